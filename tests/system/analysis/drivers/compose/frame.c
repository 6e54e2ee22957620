/* Frames: reading any bytes of any length up to a limit, and writing any body. */
#include "frame.h"
#include "../driver.h"

enum { EVERY = 80, LONGEST = GFC_FRAME_MAX };

static void read(size_t bytes) {
  uint8_t *buffer = block(bytes);
  gfc_frame frame;
  gfc_seal seal;
  UNKNOWN(seal);
  if (gfc_frame_read(&frame, buffer, bytes, &seal) == NULL) {
    /*@ assert body: \valid_read(frame.body + (0 .. frame.bytes - 1)); */
    /*@ assert rest: frame.bytes == bytes - GFC_HEAD_BYTES; */
  }
  free(buffer);
}

static void write(size_t bytes) {
  uint8_t *body = block(bytes), *buffer = block(GFC_HEAD_BYTES + bytes);
  gfc_frame frame;
  UNKNOWN(frame);
  frame.bytes = bytes;
  frame.body = any() || bytes > 0 ? body : NULL;
  gfc_seal seal;
  UNKNOWN(seal);
  size_t written = gfc_frame_write(buffer, &frame, &seal);
  /*@ assert whole: written == GFC_HEAD_BYTES + bytes; */
  read(written);
  free(body);
  free(buffer);
}

int main(void) {
  for (size_t bytes = 0; bytes <= EVERY; bytes++) {
    read(bytes);
    write(bytes);
  }
  read(LONGEST);
  write(GFSMITH_MESSAGE_MAX);
  return 0;
}
