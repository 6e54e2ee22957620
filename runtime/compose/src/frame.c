#include "frame.h"

#include <endian.h>
#include <string.h>

typedef struct head {
  uint8_t tag[GFC_TAG_BYTES];
  uint64_t number;
  uint32_t bytes;
  uint16_t credits;
  uint8_t type, zero;
} head;
_Static_assert(sizeof(head) == GFC_HEAD_BYTES, "no padding");

size_t gfc_frame_write(uint8_t *buffer, const gfc_frame *frame, const gfc_seal *seal) {
  head written = {.number = htole64(frame->number),
                  .bytes = htole32((uint32_t)frame->bytes),
                  .credits = htole16(frame->credits),
                  .type = frame->type};
  size_t bytes = sizeof written + frame->bytes;
  memcpy(buffer, &written, sizeof written);
  if (frame->bytes != 0)
    memcpy(buffer + sizeof written, frame->body, frame->bytes);
  gfc_seal_frame(seal, frame->number, buffer + GFC_TAG_BYTES, bytes - GFC_TAG_BYTES, buffer);
  return bytes;
}

const char *gfc_frame_read(gfc_frame *frame, const uint8_t *buffer, size_t bytes,
                           const gfc_seal *seal) {
  head read;
  if (bytes < sizeof read)
    return "a message shorter than its header";
  memcpy(&read, buffer, sizeof read);
  if (!gfc_seal_frame_valid(seal, le64toh(read.number), buffer + GFC_TAG_BYTES,
                            bytes - GFC_TAG_BYTES, read.tag))
    return "a message that the peer did not send: its authentication code is wrong";
  if (le32toh(read.bytes) != bytes - sizeof read)
    return "a message of another length than its header states";
  *frame = (gfc_frame){.type = read.type,
                       .credits = le16toh(read.credits),
                       .number = le64toh(read.number),
                       .bytes = bytes - sizeof read,
                       .body = buffer + sizeof read};
  return NULL;
}
