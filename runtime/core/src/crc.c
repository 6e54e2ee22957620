/* The functions of gfsmith_checksum.h on one sequence of bytes. */
#include "crc.h"

#include "gfsmith_checksum.h"
#include "inlining.h"
#include "sizes.h"

#define CRC_WORD 8u

/* The fewest bytes for which folding is faster than crc32 instructions, one for each word. These
 * take 3 cycles on x86 and 2 or 3 on Arm, so 72 at this length. Folding a line takes a carry-less
 * multiplication and a sum, 4 to 8 cycles, and a call begins and ends with some 40 more. */
#define STEPPED_MAX 192u

/* The same with a load of any number of bytes: a call begins and ends with fewer cycles. */
#define STEPPED_FEW_MAX 64u

/* The fewest bytes for which the longer blocks are faster than lines; half of them if at most a
 * group of bytes is before whole blocks. */
#define BLOCKS_MIN 1024u

/* The most bytes of an update by one function. Longer blocks are as fast from there on, and have
 * more multiplications at once for CPUs on which these take longer. */
#define UPDATED_MAX 8192u

/* The most bytes of an update that folds one line after the other. */
#define NARROW_MAX 192u

/* The first bytes of a piece, at most a group: at the end of a group that begins with zeros,
 * which do not change the remainder. low, high: its words. state: the register that is to be added
 * to the bytes behind it. */
typedef struct first_group {
  uint64_t low;
  uint64_t high;
  uint64_t state;
} first_group;

static GFS_INLINED uint64_t quarter_reflected(const uint8_t *from) {
  return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
         (uint32_t)from[3] << 24;
}

static GFS_INLINED uint64_t quarter_normal(const uint8_t *from) {
  return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 |
         (uint32_t)from[3];
}

/* The first bytes of a word, fewer than it has. Loads overlap. */
static GFS_INLINED uint64_t part_reflected(size_t len, const uint8_t *data) {
  if (len >= 4)
    return quarter_reflected(data) | quarter_reflected(data + len - 4) << 8 * (len - 4);
  return data[0] | (uint64_t)data[len / 2] << 8 * (len / 2) |
         (uint64_t)data[len - 1] << 8 * (len - 1);
}

static GFS_INLINED uint64_t part_normal(size_t len, const uint8_t *data) {
  if (len >= 4)
    return quarter_normal(data) << 32 | quarter_normal(data + len - 4) << 8 * (CRC_WORD - len);
  return (uint64_t)data[0] << 56 | (uint64_t)data[len / 2] << 8 * (CRC_WORD - 1 - len / 2) |
         (uint64_t)data[len - 1] << 8 * (CRC_WORD - len);
}

/* Reflected: the first byte is the lowest of a word, and the first word the low one. */
static GFS_INLINED first_group first_reflected(uint64_t state, size_t len, uint64_t word,
                                               const uint8_t *data) {
  word ^= state;
  if (len < CRC_WORD)
    return (first_group){0, word << 8 * (CRC_WORD - len), state >> 8 * len};
  size_t behind = len - CRC_WORD;
  if (behind == 0)
    return (first_group){0, word, 0};
  uint64_t high = gfs_crc_word_reflected(data + behind) ^ state >> 8 * (behind - 1) >> 8;
  return (first_group){word << 8 * (CRC_WORD - behind), high, 0};
}

/* Normal: the first byte is the highest of a word, and the first word the high one. */
static GFS_INLINED first_group first_normal(uint64_t state, size_t len, uint64_t word,
                                            const uint8_t *data) {
  word ^= state;
  if (len < CRC_WORD)
    return (first_group){word >> 8 * (CRC_WORD - len), 0, state << 8 * len};
  size_t behind = len - CRC_WORD;
  if (behind == 0)
    return (first_group){word, 0, 0};
  uint64_t low = gfs_crc_word_normal(data + behind) ^ state << 8 * (behind - 1) << 8;
  return (first_group){low, word >> 8 * (CRC_WORD - behind), 0};
}

/* The first `len` bytes, less than a group, of a group at least. */
static GFS_INLINED first_group first_of(const gfs_crc *crc, uint64_t state, size_t len,
                                        const uint8_t *data) {
  if (len == 0)
    return (first_group){0, 0, state};
  if (crc->order == GFS_CRC_REFLECTED)
    return first_reflected(state, len, gfs_crc_word_reflected(data), data);
  return first_normal(state, len, gfs_crc_word_normal(data), data);
}

/* The register after a byte at least, and at most a group. */
static GFS_INLINED uint64_t after_part(const gfs_crc *crc, const gfs_crc_set *set, uint64_t state,
                                       size_t len, const uint8_t *data) {
  first_group first;
  if (crc->order == GFS_CRC_REFLECTED) {
    uint64_t word = len < CRC_WORD ? part_reflected(len, data) : gfs_crc_word_reflected(data);
    first = first_reflected(state, len, word, data);
  } else {
    uint64_t word = len < CRC_WORD ? part_normal(len, data) : gfs_crc_word_normal(data);
    first = first_normal(state, len, word, data);
  }
  return set->group[crc->order](crc, first.low, first.high) ^ first.state;
}

/* The register after a group at least, by lines. */
static GFS_INLINED uint64_t after_lines(const gfs_crc *crc, const gfs_crc_set *set, uint64_t state,
                                        size_t len, const uint8_t *data) {
  size_t apart = len % GFS_CRC_GROUP;
  size_t groups = len / GFS_CRC_GROUP % (GFS_CRC_LINE / GFS_CRC_GROUP);
  size_t lines = len / GFS_CRC_LINE - (groups == 0);
  if (groups == 0 && apart == 0)
    return set->reduce_lines[crc->order](crc, state, lines, data);
  first_group first = first_of(crc, state, apart, data);
  return set->reduce_line[groups][crc->order](crc, first.low, first.high, first.state, lines,
                                              data + apart);
}

/* Does the register fit into the first bytes, those before whole lines? */
static GFS_INLINED bool leads(size_t len) { return (len - 1) % GFS_CRC_LINE >= CRC_WORD - 1; }

/* The register after a byte at least, and fewer than a block. */
static GFS_INLINED uint64_t after_few(const gfs_crc *crc, const gfs_crc_set *set, uint64_t state,
                                      size_t len, const uint8_t *data) {
  gfs_crc_bytes *bytes = set->bytes[crc->order];
  if (bytes != NULL && leads(len))
    return bytes(crc, state, len, data);
  return len > GFS_CRC_GROUP ? after_lines(crc, set, state, len, data)
                             : after_part(crc, set, state, len, data);
}

/* The number of blocks in so many bytes. A division would take as long as a fold. */
static inline size_t blocks_of(const gfs_crc_set *set, size_t len) {
#if defined(__GNUC__)
  return len >> __builtin_ctzll(set->block);
#else
  return len / set->block;
#endif
}

/* The ways of an update, which change *state to the checksum after len bytes more. Each is a
 * function, so that it saves only the registers that it needs. */
static GFS_INLINED gfsmith_status ended(const gfs_crc *crc, uint64_t *state, uint64_t after) {
  *state = gfs_crc_from_register(crc, after);
  return GFSMITH_OK;
}

static GFS_NOT_INLINED gfsmith_status by_steps(const gfs_crc *crc, const gfs_crc_set *set,
                                               uint64_t *state, size_t len, const uint8_t *data) {
  uint64_t before = gfs_crc_to_register(crc, *state);
  return ended(crc, state, set->steps[crc->instruction](before, len, data));
}

/* The register after so many bytes. Whole lines need no loads of fewer bytes. */
static GFS_INLINED uint64_t after_once(const gfs_crc *crc, const gfs_crc_set *set,
                                       gfs_crc_order order, uint64_t before, size_t len,
                                       const uint8_t *data) {
  if (len % GFS_CRC_LINE == 0)
    return set->reduce_lines[order](crc, before, len / GFS_CRC_LINE - 1, data);
  return set->bytes[order](crc, before, len, data);
}

static GFS_NOT_INLINED gfsmith_status by_part(const gfs_crc *crc, const gfs_crc_set *set,
                                              uint64_t *state, size_t len, const uint8_t *data) {
  uint64_t before = gfs_crc_to_register(crc, *state);
  return ended(crc, state, after_part(crc, set, before, len, data));
}

static GFS_NOT_INLINED gfsmith_status by_lines(const gfs_crc *crc, const gfs_crc_set *set,
                                               uint64_t *state, size_t len, const uint8_t *data) {
  uint64_t before = gfs_crc_to_register(crc, *state);
  return ended(crc, state, after_lines(crc, set, before, len, data));
}

/* A block at least. */
static GFS_NOT_INLINED gfsmith_status by_blocks(const gfs_crc *crc, const gfs_crc_set *set,
                                                uint64_t *state, size_t len, const uint8_t *data) {
  uint64_t before = gfs_crc_to_register(crc, *state);
  size_t apart = len & (set->block - 1);
  if (apart > 0)
    before = after_few(crc, set, before, apart, data);
  size_t blocks = blocks_of(set, len) - 1;
  return ended(crc, state, set->reduce[crc->order](crc, before, blocks, data + apart));
}

static GFS_NOT_INLINED gfsmith_status by_words(const gfs_crc *crc, uint64_t *state, size_t len,
                                               const uint8_t *data) {
  uint64_t before = gfs_crc_to_register(crc, *state);
  return ended(crc, state, gfs_crc_words(crc, before, len, data));
}

/* Can one call compute so many bytes, by lines, faster than another way? A group takes one
 * multiplication less alone. */
static GFS_INLINED bool at_once(const gfs_crc *crc, const gfs_crc_set *set, size_t len) {
  bool few = len < BLOCKS_MIN / 2 || (len < BLOCKS_MIN && (len & (set->block - 1)) > GFS_CRC_GROUP);
  return len > GFS_CRC_GROUP && few && leads(len) &&
         (len >= STEPPED_FEW_MAX || set->steps[crc->instruction] == NULL) &&
         set->bytes[GFS_CRC_REFLECTED] != NULL;
}

static GFS_NOT_INLINED gfsmith_status add_bytes(const gfs_crc *crc, const gfs_crc_set *set,
                                                uint64_t *state, size_t len, const uint8_t *data) {
  bool stepped = set->steps[crc->instruction] != NULL;
  if (len == 0)
    return GFSMITH_OK;
  if (stepped && (len < STEPPED_MAX || set->block == 0))
    return by_steps(crc, set, state, len, data);
  if (set->block == 0)
    return by_words(crc, state, len, data);
  if (len <= GFS_CRC_GROUP)
    return by_part(crc, set, state, len, data);
  bool few = (len & (set->block - 1)) <= GFS_CRC_GROUP;
  return len < (few ? BLOCKS_MIN / 2 : BLOCKS_MIN) ? by_lines(crc, set, state, len, data)
                                                   : by_blocks(crc, set, state, len, data);
}

uint64_t gfs_crc_updated(const gfs_crc *crc, const gfs_crc_set *set, uint64_t checksum, size_t len,
                         const uint8_t *data) {
  if (at_once(crc, set, len)) {
    uint64_t before = gfs_crc_to_register(crc, checksum);
    return gfs_crc_from_register(crc, after_once(crc, set, crc->order, before, len, data));
  }
  if (len > 0)
    add_bytes(crc, set, &checksum, len, data);
  return checksum;
}

/* Keep the functions for the current instruction set. If gfsmith_set_isa changes it between both
 * loads, the next update finds them again; those that are kept here also run on this CPU. */
static const gfs_crc_set *find_updates(void) {
  const gfs_isa *isa = gfs_dispatch_isa();
  const gfs_crc_set *set = gfs_crc_set_of(isa);
  atomic_store(&gfs_dispatch_updates, set->updates);
  if (gfs_dispatch_isa() != isa)
    atomic_store(&gfs_dispatch_updates, NULL);
  return set;
}

/* An update with other arguments than most, before the set is known, or with a set that has no
 * functions for short updates. */
static GFS_NOT_INLINED gfsmith_status any_update(const gfs_crc *crc, uint64_t *state, size_t len,
                                                 const uint8_t *data) {
  if (!gfs_crc_is_checksum(crc, *state) || (data == NULL && len > 0))
    return GFSMITH_EINVAL;
  const gfs_crc_set *set = gfs_crc_known_set();
  if (set == NULL || set->updates != NULL)
    set = find_updates();
  return add_bytes(crc, set, state, len, data);
}

/* An update without a function for its length. */
static GFS_NOT_INLINED gfsmith_status other_update(const gfs_crc *crc, uint64_t *state, size_t len,
                                                   const uint8_t *data) {
  *state = gfs_crc_updated(crc, gfs_crc_set_now(), *state, len, data);
  return GFSMITH_OK;
}

/* The places of the functions for a word to NARROW_MAX bytes. A load takes less time than the
 * branches of a search. */
#define AT(name) offsetof(gfs_crc_updates, name)
#define SEVEN(name) AT(name), AT(name), AT(name), AT(name), AT(name), AT(name), AT(name)
#define EIGHT(name) SEVEN(name), AT(name)
static const uint8_t narrow_updates[NARROW_MAX - CRC_WORD + 1] = {
    EIGHT(group), AT(group),                                /* 8 to 16 */
    SEVEN(half),  EIGHT(half),  AT(half),                   /* 17 to 32 */
    SEVEN(bytes), EIGHT(bytes), EIGHT(bytes), EIGHT(bytes), /* 33 to 63 */
    AT(lines),    SEVEN(few),                               /* 64 to 71 */
    EIGHT(bytes), EIGHT(bytes), EIGHT(bytes), EIGHT(bytes), EIGHT(bytes),
    EIGHT(bytes), EIGHT(bytes), AT(lines),    SEVEN(few), /* 128 to 135 */
    EIGHT(bytes), EIGHT(bytes), EIGHT(bytes), EIGHT(bytes), EIGHT(bytes),
    EIGHT(bytes), EIGHT(bytes), AT(lines),
};

/* Advance a checksum by the function for so many bytes. The calls are the last ones of their
 * callers, so that these save no registers. */
static GFS_INLINED gfsmith_status short_update(const gfs_crc_updates *updates, uint64_t *state,
                                               size_t len, const uint8_t *data) {
  const gfs_crc *crc = updates->crc;
  if (len - CRC_WORD <= NARROW_MAX - CRC_WORD) {
    const uint8_t *place = (const uint8_t *)updates + narrow_updates[len - CRC_WORD];
    return (*(gfs_crc_update *const *)(const void *)place)(crc, state, len, data);
  }
  if (GFS_UNLIKELY(len - CRC_WORD > UPDATED_MAX - CRC_WORD))
    return other_update(crc, state, len, data);
  return len % GFS_CRC_UPDATED_BLOCK == 0 ? updates->blocks(crc, state, len, data)
                                          : updates->wide(crc, state, len, data);
}

gfsmith_status gfsmith_checksum_update(gfsmith_checksum kind, uint64_t *state, size_t len,
                                       const uint8_t *data) {
  if ((unsigned)kind >= GFS_CRC_KINDS || state == NULL)
    return GFSMITH_EINVAL;
  const gfs_crc_updates *updates =
      atomic_load_explicit(&gfs_dispatch_updates, memory_order_relaxed);
  if (GFS_UNLIKELY(updates == NULL || data == NULL))
    return any_update(&gfs_crcs[(unsigned)kind], state, len, data);
  updates += (unsigned)kind;
  if (GFS_UNLIKELY((*state & updates->beyond) != 0))
    return GFSMITH_EINVAL;
  return short_update(updates, state, len, data);
}

static bool is_sector(gfsmith_checksum kind, size_t sector) {
  bool of_t10 = sector == GFS_T10_SECTOR || sector == GFS_T10_LONG_SECTOR;
  return kind == GFSMITH_CRC16_T10 ? of_t10 : sector > 0;
}

gfsmith_status gfsmith_checksum_sectors(gfsmith_checksum kind, size_t sector, size_t len,
                                        const uint8_t *data, uint64_t *checksums) {
  const gfs_crc *crc = gfs_crc_of(kind);
  if (crc == NULL || !is_sector(kind, sector) || len % sector != 0)
    return GFSMITH_EINVAL;
  if (len > 0 && (data == NULL || checksums == NULL))
    return GFSMITH_EINVAL;
  const gfs_crc_set *set = gfs_crc_set_now();
  for (size_t n = 0; n < len / sector; n++) {
    checksums[n] = 0;
    if (set->updates != NULL)
      short_update(&set->updates[(unsigned)kind], &checksums[n], sector, data + n * sector);
    else
      add_bytes(crc, set, &checksums[n], sector, data + n * sector);
  }
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
  const gfs_crc *crc = gfs_crc_of(kind);
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
