/* The functions of gfsmith_checksum.h on one sequence of bytes. */
#include "crc.h"

#include <stdalign.h>
#include <string.h>

#include "gfsmith_checksum.h"
#include "inlining.h"
#include "sizes.h"

/* The bytes of a message that a register is added to. */
#define REGISTER_BYTES 8u

/* The fewest bytes for which folding is faster than crc32 instructions, one for each word. These
 * take 3 cycles on x86 and 2 or 3 on Arm, so 72 at this length. Folding a line takes a carry-less
 * multiplication and a sum, 4 to 8 cycles, and a call begins and ends with some 40 more. */
#define STEPPED_MAX 192u

/* The fewest bytes before whole blocks that are padded to a block, which takes about 50 cycles,
 * instead of being added by crc32 instructions. */
#define PADDED_MIN 128u

/* The fewest bytes for which the longer blocks are faster than lines. */
#define BLOCKS_MIN 1024u

/* The number of blocks in so many bytes. A division would take as long as a fold. */
static inline size_t blocks_of(const gfs_crc_set *set, size_t len) {
#if defined(__GNUC__)
  return len >> __builtin_ctzll(set->block);
#else
  return len / set->block;
#endif
}

/* The register after a message and the bytes behind it, all together a number of blocks: of lines,
 * or of the set. */
static GFS_INLINED uint64_t reduced(const gfs_crc *crc, const gfs_crc_set *set, bool lines,
                                    uint64_t state, const uint8_t *message, size_t rest,
                                    const uint8_t *data) {
  uint8_t group[GFS_CRC_GROUP];
  if (lines)
    set->reduce_line[crc->order](crc, state, message, rest / GFS_CRC_LINE, data, group);
  else
    set->reduce[crc->order](crc, state, message, blocks_of(set, rest), data, group);
  return gfs_crc_bytes(crc, set, 0, GFS_CRC_GROUP, group);
}

/* The same, with `first` bytes, REGISTER_BYTES at least, before whole blocks. They stand behind
 * zeros in a message of one block, which do not change the remainder. Copies of a whole line need
 * no call, and the bytes behind the first ones exist. */
static GFS_NOT_INLINED uint64_t padded(const gfs_crc *crc, const gfs_crc_set *set, bool lines,
                                       uint64_t state, size_t first, size_t rest,
                                       const uint8_t *data) {
  alignas(GFS_CACHE_LINE) uint8_t message[GFS_CRC_BLOCK_MAX];
  size_t zeros = (lines ? GFS_CRC_LINE : set->block) - first;
  if (lines) {
    memset(message, 0, GFS_CRC_LINE);
    memcpy(message + zeros, data, GFS_CRC_LINE);
  } else {
    memset(message, 0, zeros);
    memcpy(message + zeros, data, first);
  }
  gfs_crc_start(crc, state, data, message + zeros);
  return reduced(crc, set, lines, 0, message, rest, data + first);
}

/* The register after len bytes, a line at least. The first bytes, up to a whole number of blocks
 * before the end, are separate. */
static GFS_NOT_INLINED uint64_t folded(const gfs_crc *crc, const gfs_crc_set *set, uint64_t state,
                                       size_t len, const uint8_t *data) {
  size_t apart = set->steps[crc->instruction] != NULL ? PADDED_MIN : REGISTER_BYTES;
  bool few = (len & (set->block - 1)) < apart;
  bool lines = len < (few ? BLOCKS_MIN / 2 : BLOCKS_MIN);
  size_t block = lines ? GFS_CRC_LINE : set->block;
  size_t first = len & (block - 1);
  if (first >= apart)
    return padded(crc, set, lines, state, first, len - first, data);
  if (first > 0)
    state = gfs_crc_bytes(crc, set, state, first, data);
  data += first;
  return reduced(crc, set, lines, state, data, len - first - block, data + block);
}

static GFS_INLINED uint64_t updated(const gfs_crc *crc, const gfs_crc_set *set, uint64_t checksum,
                                    size_t len, const uint8_t *data) {
  uint64_t state = gfs_crc_to_register(crc, checksum);
  size_t least = set->steps[crc->instruction] != NULL ? STEPPED_MAX : GFS_CRC_FOLDED_MIN;
  state = set->block == 0 || len < least ? gfs_crc_bytes(crc, set, state, len, data)
                                         : folded(crc, set, state, len, data);
  return gfs_crc_from_register(crc, state);
}

uint64_t gfs_crc_updated(const gfs_crc *crc, const gfs_crc_set *set, uint64_t checksum, size_t len,
                         const uint8_t *data) {
  return updated(crc, set, checksum, len, data);
}

gfsmith_status gfsmith_checksum_update(gfsmith_checksum kind, uint64_t *state, size_t len,
                                       const uint8_t *data) {
  const gfs_crc *crc = gfs_crc_of((int)kind);
  if (crc == NULL || state == NULL || !gfs_crc_is_checksum(crc, *state) ||
      (len > 0 && data == NULL))
    return GFSMITH_EINVAL;
  if (len > 0)
    *state = updated(crc, gfs_crc_set_now(), *state, len, data);
  return GFSMITH_OK;
}

static bool is_sector(gfsmith_checksum kind, size_t sector) {
  bool of_t10 = sector == GFS_T10_SECTOR || sector == GFS_T10_LONG_SECTOR;
  return kind == GFSMITH_CRC16_T10 ? of_t10 : sector > 0;
}

gfsmith_status gfsmith_checksum_sectors(gfsmith_checksum kind, size_t sector, size_t len,
                                        const uint8_t *data, uint64_t *checksums) {
  const gfs_crc *crc = gfs_crc_of((int)kind);
  if (crc == NULL || !is_sector(kind, sector) || len % sector != 0)
    return GFSMITH_EINVAL;
  if (len > 0 && (data == NULL || checksums == NULL))
    return GFSMITH_EINVAL;
  const gfs_crc_set *set = gfs_crc_set_now();
  for (size_t n = 0; n < len / sector; n++)
    checksums[n] = gfs_crc_updated(crc, set, 0, sector, data + n * sector);
  return GFSMITH_OK;
}

static uint64_t times_x(const gfs_crc *crc, uint64_t state) {
  if (crc->order == GFS_CRC_REFLECTED)
    return state >> 1 ^ (state & 1 ? crc->modulus : 0);
  return state << 1 ^ (state >> 63 ? crc->modulus : 0);
}

/* A register times a polynomial of degree below crc->bits, by Horner's rule. */
static uint64_t times(const gfs_crc *crc, uint64_t state, uint64_t polynomial) {
  uint64_t product = 0;
  for (unsigned i = crc->bits; i-- > 0;)
    product = times_x(crc, product) ^ (polynomial >> i & 1 ? state : 0);
  return product;
}

gfsmith_status gfsmith_checksum_combine(gfsmith_checksum kind, uint64_t *state, uint64_t second,
                                        size_t second_len) {
  const gfs_crc *crc = gfs_crc_of((int)kind);
  if (crc == NULL || state == NULL || !gfs_crc_is_checksum(crc, *state) ||
      !gfs_crc_is_checksum(crc, second))
    return GFSMITH_EINVAL;
  /* The first registers cancel out: the sum is that of registers. */
  uint64_t moved = gfs_crc_to_register(crc, *state ^ crc->ones);
  const uint64_t *power = crc->powers;
  for (uint64_t rest = second_len; rest != 0; rest >>= 1, power++)
    if (rest & 1)
      moved = times(crc, moved, *power);
  *state = gfs_crc_from_register(crc, moved) ^ crc->ones ^ second;
  return GFSMITH_OK;
}
