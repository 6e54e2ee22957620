/* alone.c: a library with the checksums of gfsmith and of ISA-L as peers (checksum_peer.h). */
#include <isa-l/crc.h>

#include "checksum_peer.h"
#include "gfsmith_checksum.h"

static const uint8_t *buffer(const checksum_buffers *b, size_t n) {
  return b->base + b->order[n] * b->pitch;
}

uint64_t sum_gfsmith(unsigned check, const checksum_buffers *b) {
  uint64_t sum = 0;
  for (size_t n = 0; n < b->count; n++) {
    uint64_t state = 0;
    gfsmith_checksum_update((gfsmith_checksum)check, &state, b->len, buffer(b, n));
    sum ^= state;
  }
  return sum;
}

/* CRC-32C or CRC-32. */
uint64_t sum_isal(unsigned check, const checksum_buffers *b) {
  uint32_t sum = 0;
  for (size_t n = 0; n < b->count; n++) {
    unsigned char *data = (unsigned char *)(uintptr_t)buffer(b, n);
    sum ^= check == GFSMITH_CRC32C ? ~crc32_iscsi(data, (int)b->len, ~0u)
                                   : crc32_gzip_refl(0, data, b->len);
  }
  return sum;
}
