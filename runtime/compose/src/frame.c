#include "frame.h"

#include <endian.h>
#include <string.h>
#include <xxhash.h>

typedef struct head {
  uint64_t hash;
  uint32_t magic;
  uint8_t type, zero;
  uint16_t credits;
  uint32_t bytes, sequence;
} head;
_Static_assert(sizeof(head) == GFC_HEAD_BYTES, "no padding");

static uint64_t hash(const uint8_t *buffer, size_t bytes) {
  return XXH3_64bits(buffer + sizeof(uint64_t), bytes - sizeof(uint64_t));
}

size_t gfc_frame_write(uint8_t *buffer, const gfc_frame *frame) {
  head written = {.magic = htole32(GFC_MAGIC),
                  .type = frame->type,
                  .credits = htole16(frame->credits),
                  .bytes = htole32((uint32_t)frame->bytes),
                  .sequence = htole32(frame->sequence)};
  size_t bytes = sizeof written + frame->bytes;
  memcpy(buffer, &written, sizeof written);
  if (frame->bytes != 0)
    memcpy(buffer + sizeof written, frame->body, frame->bytes);
  uint64_t sum = htole64(hash(buffer, bytes));
  memcpy(buffer, &sum, sizeof sum);
  return bytes;
}

const char *gfc_frame_read(gfc_frame *frame, const uint8_t *buffer, size_t bytes) {
  head read;
  if (bytes < sizeof read)
    return "a message shorter than its header";
  memcpy(&read, buffer, sizeof read);
  if (le32toh(read.magic) != GFC_MAGIC)
    return "a message without the magic number";
  if (le64toh(read.hash) != hash(buffer, bytes))
    return "a message with a wrong checksum";
  if (le32toh(read.bytes) != bytes - sizeof read)
    return "a message of another length than its header states";
  *frame = (gfc_frame){.type = read.type,
                       .credits = le16toh(read.credits),
                       .sequence = le32toh(read.sequence),
                       .bytes = bytes - sizeof read,
                       .body = buffer + sizeof read};
  return NULL;
}
