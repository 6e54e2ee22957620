#include "par2_hash.h"

#include <errno.h>
#include <gfsmith_checksum.h>
#include <string.h>

#include "medium.h"
#include "output.h"
#include "report.h"

/* The zeros that may be hashed: so many, and a multiple of the bytes of the files. */
enum { PADDING_FACTOR = 16 };
static const uint64_t PADDING_BYTES = (uint64_t)1 << 31;

int par2_read_error(void) { return errno != 0 ? errno : PAR2_SHORTER; }

const char *par2_reason(int error) {
  return error == PAR2_SHORTER ? "it has become shorter" : strerror(error);
}

static void add_both(par2_checksums *sums, md5 *sum, const uint8_t *bytes, size_t size) {
  uint64_t crc = sums->crc;
  gfsmith_checksum_update(GFSMITH_CRC32, &crc, size, bytes);
  sums->crc = (uint32_t)crc;
  md5_add(sum, bytes, size);
}

void par2_add_zeros(par2_checksums *sums, md5 *sum, uint64_t count) {
  static const uint8_t zeros[4096];
  for (uint64_t left = count; left > 0 && !report_interrupted();) {
    size_t size = left < sizeof zeros ? (size_t)left : sizeof zeros;
    add_both(sums, sum, zeros, size);
    left -= size;
  }
}

/* Read the next piece of a range; 0 and errno (0: the file ends before) on failure. */
static size_t read_piece(int fd, uint64_t at, uint64_t end, uint8_t *piece) {
  size_t size = end - at < PAR2_PIECE ? (size_t)(end - at) : PAR2_PIECE;
  ssize_t n = medium_read(fd, piece, size, at);
  if (n == (ssize_t)size)
    return size;
  errno = n < 0 ? errno : 0;
  return 0;
}

bool par2_hash_block(int fd, uint64_t start, uint64_t length, uint64_t block,
                     par2_checksums *sums) {
  uint8_t piece[PAR2_PIECE];
  md5 sum;
  sums->crc = 0;
  md5_begin(&sum);
  for (uint64_t at = start; at < start + length;) {
    size_t size = read_piece(fd, at, start + length, piece);
    if (size == 0)
      return false;
    add_both(sums, &sum, piece, size);
    at += size;
  }
  par2_add_zeros(sums, &sum, block - length);
  md5_end(&sum, sums->md5);
  return true;
}

uint32_t par2_after_zeros(uint32_t state, uint64_t count) {
  uint64_t wide = state;
  gfsmith_checksum_combine(GFSMITH_CRC32, &wide, 0, (size_t)count);
  return (uint32_t)wide;
}

bool par2_crc_block(int fd, uint64_t start, uint64_t length, uint64_t block, par2_checksums *sums) {
  uint8_t piece[PAR2_PIECE];
  uint64_t crc = 0;
  for (uint64_t at = start; at < start + length;) {
    size_t size = read_piece(fd, at, start + length, piece);
    if (size == 0)
      return false;
    gfsmith_checksum_update(GFSMITH_CRC32, &crc, size, piece);
    at += size;
  }
  sums->crc = ~par2_after_zeros(~(uint32_t)crc, block - length);
  return true;
}

bool par2_may_pad(uint64_t *zeros, uint64_t more, uint64_t bytes) {
  uint64_t sum = *zeros + more;
  bool may = sum <= PADDING_BYTES || (sum - PADDING_BYTES) / PADDING_FACTOR <= bytes;
  *zeros += may ? more : 0;
  return may;
}

bool par2_hash_range(int fd, uint64_t start, uint64_t end, md5 *sum) {
  uint8_t piece[PAR2_PIECE];
  for (uint64_t at = start; at < end;) {
    size_t size = read_piece(fd, at, end, piece);
    if (size == 0)
      return false;
    md5_add(sum, piece, size);
    at += size;
  }
  return true;
}
