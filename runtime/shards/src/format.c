#include "format.h"

#include "checksum.h"

enum {
  AT_MAGIC = 0,
  AT_VERSION = 8,
  AT_HEADER_BYTES = 12,
  AT_SET_ID = 16,
  AT_GENERATION = 32,
  AT_INDEX = 40,
  AT_CONTENT = 44,
  AT_POLYNOMIAL = 48,
  AT_K = 52,
  AT_M = 56,
  AT_L = 60,
  AT_BLOCK = 64,
  AT_CODE = 72,
  AT_NAME = 104,
  AT_SUM = 496,
  VERSION = 2,
  SUM = 16,
  BLOCK_UNIT = 64
};

static const uint8_t magic[8] = {0x89, 'G', 'F', 'S', '\r', '\n', 0x1a, '\n'};

static void put(uint8_t *to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++)
    to[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get(const uint8_t *from, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++)
    value |= (uint64_t)from[i] << (8 * i);
  return value;
}

static uint32_t get_u32(const uint8_t *from) { return (uint32_t)get(from, 4); }

static void checksum(uint8_t to[SUM], const uint8_t *bytes, size_t size, uint64_t seed) {
  gfs_shards_canonical(to, XXH3_128bits_withSeed(bytes, size, seed));
}

static bool name_valid(const char *name) {
  return memchr(name, '\0', GFSMITH_SHARDS_MAX_NAME + 1) != NULL && strchr(name, '/') == NULL &&
         strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static bool code_valid(const gfsmith_shards_header *h) {
  return h->code[0] != '\0' && memchr(h->code, '\0', sizeof h->code) != NULL;
}

static bool groups_valid(const gfsmith_shards_header *h) {
  if (strcmp(h->code, "lrc") != 0)
    return h->l == 0;
  return h->l >= 1 && h->l <= h->k && h->l < h->m;
}

const char *gfsmith_shards_header_fault(const gfsmith_shards_header *h) {
  if (h == NULL)
    return "no header";
  if (h->k < 1 || h->m < 1 || h->k >= GFSMITH_MAX_SHARDS || h->m >= GFSMITH_MAX_SHARDS ||
      h->k + h->m > GFSMITH_MAX_SHARDS)
    return "k and m must each be at least 1, together at most 255";
  if (h->index >= h->k + h->m)
    return "the index must be less than k + m";
  if (h->block < BLOCK_UNIT || h->block > GFSMITH_SHARDS_MAX_BLOCK || h->block % BLOCK_UNIT != 0)
    return "the block size must be a multiple of 64, at most 1048576";
  if (h->content > GFSMITH_SHARDS_TAR)
    return "the content must be 0 (bytes) or 1 (a tar archive)";
  if (h->generation < 1 || h->generation > GFSMITH_SHARDS_MAX_GENERATION)
    return "the generation must be 1 to 9007199254740991";
  if (!code_valid(h))
    return "the name of a code has 1 to 31 bytes";
  if (!groups_valid(h))
    return "lrc has l groups, 1 <= l <= k and l < m; other codes have l = 0";
  if (!name_valid(h->name))
    return "the name of the original must be a file name of at most 229 bytes";
  return NULL;
}

static void write_header(const gfsmith_shards_header *h, uint8_t *raw) {
  memset(raw, 0, GFSMITH_SHARDS_HEADER);
  memcpy(raw + AT_MAGIC, magic, sizeof magic);
  put(raw + AT_VERSION, VERSION, 4);
  put(raw + AT_HEADER_BYTES, GFSMITH_SHARDS_HEADER, 4);
  memcpy(raw + AT_SET_ID, h->set_id, sizeof h->set_id);
  put(raw + AT_GENERATION, h->generation, 8);
  put(raw + AT_INDEX, h->index, 4);
  put(raw + AT_CONTENT, h->content, 4);
  put(raw + AT_POLYNOMIAL, GFSMITH_POLYNOMIAL, 4);
  put(raw + AT_K, h->k, 4);
  put(raw + AT_M, h->m, 4);
  put(raw + AT_L, h->l, 4);
  put(raw + AT_BLOCK, h->block, 4);
  memcpy(raw + AT_CODE, h->code, strlen(h->code));
  memcpy(raw + AT_NAME, h->name, strlen(h->name));
  checksum(raw + AT_SUM, raw, AT_SUM, 0);
}

int gfsmith_shards_header_write(const gfsmith_shards_header *header, uint8_t *raw) {
  if (raw == NULL || gfsmith_shards_header_fault(header) != NULL)
    return GFSMITH_EINVAL;
  write_header(header, raw);
  return GFSMITH_OK;
}

bool gfsmith_shards_same_set(const gfsmith_shards_header *a, const gfsmith_shards_header *b) {
  uint8_t raw[2][GFSMITH_SHARDS_HEADER];
  if (a == NULL || b == NULL || memcmp(a->set_id, b->set_id, sizeof a->set_id) != 0)
    return false; /* soon, since the file tool compares each file of a folder with each other one */
  gfsmith_shards_header first = *a, second = *b;
  first.index = second.index = 0;
  return gfsmith_shards_header_write(&first, raw[0]) == GFSMITH_OK &&
         gfsmith_shards_header_write(&second, raw[1]) == GFSMITH_OK &&
         memcmp(raw[0], raw[1], sizeof raw[0]) == 0;
}

static void parse(gfsmith_shards_header *h, const uint8_t *raw) {
  memset(h, 0, sizeof *h);
  memcpy(h->set_id, raw + AT_SET_ID, sizeof h->set_id);
  h->generation = get(raw + AT_GENERATION, 8);
  h->index = get_u32(raw + AT_INDEX);
  h->content = get_u32(raw + AT_CONTENT);
  h->k = get_u32(raw + AT_K);
  h->m = get_u32(raw + AT_M);
  h->l = get_u32(raw + AT_L);
  h->block = get_u32(raw + AT_BLOCK);
  memcpy(h->code, raw + AT_CODE, sizeof h->code - 1);
  memcpy(h->name, raw + AT_NAME, sizeof h->name - 1);
}

/* The reason why these bytes are no header, or NULL. */
static const char *header_fault(gfsmith_shards_header *header, const uint8_t *raw, size_t size) {
  uint8_t sum[SUM], again[GFSMITH_SHARDS_HEADER];
  if (size < sizeof magic || memcmp(raw + AT_MAGIC, magic, sizeof magic) != 0)
    return "not a shard";
  if (size >= AT_HEADER_BYTES && get_u32(raw + AT_VERSION) == 1)
    return "a shard of format version 1, which this version does not read";
  if (size < GFSMITH_SHARDS_HEADER)
    return "truncated: less than a header";
  checksum(sum, raw, AT_SUM, 0);
  if (memcmp(raw + AT_SUM, sum, SUM) != 0)
    return "checksum mismatch in the header";
  if (get_u32(raw + AT_VERSION) != VERSION)
    return "a shard of an unknown format version";
  parse(header, raw);
  const char *fault = gfsmith_shards_header_fault(header);
  if (fault != NULL)
    return fault;
  /* Each header has a unique encoding: bytes outside of the fields must be zero. */
  write_header(header, again);
  return memcmp(again, raw, sizeof again) == 0 ? NULL : "a header with junk between its fields";
}

int gfsmith_shards_header_read(gfsmith_shards_header *header, const uint8_t *raw, size_t size,
                               const char **why) {
  gfsmith_shards_header found;
  if (header == NULL || raw == NULL)
    return GFSMITH_EINVAL;
  const char *fault = header_fault(&found, raw, size);
  if (fault == NULL)
    *header = found;
  if (why != NULL)
    *why = fault;
  return fault == NULL ? GFSMITH_OK : GFSMITH_SHARDS_EFORMAT;
}

uint64_t gfs_shards_tag(const uint8_t raw[GFSMITH_SHARDS_HEADER]) { return get(raw + AT_SUM, 8); }

void gfs_shards_seal(uint8_t *record, uint64_t tag, uint64_t number, uint32_t b, uint32_t kind) {
  put(record + 16, number, 8);
  put(record + 24, b, 4);
  put(record + 28, kind, 4);
  checksum(record, record + SUM, GFS_SHARDS_PREFIX - SUM + b, tag);
}

uint32_t gfs_shards_open(const uint8_t *record, size_t size, uint64_t tag, uint64_t number,
                         uint32_t kind, uint32_t most) {
  uint8_t sum[SUM];
  if (size < GFS_SHARDS_PREFIX)
    return 0;
  uint32_t b = get_u32(record + 24);
  if (b < 1 || b > most || b > size - GFS_SHARDS_PREFIX || get(record + 16, 8) != number ||
      get_u32(record + 28) != kind)
    return 0;
  checksum(sum, record + SUM, GFS_SHARDS_PREFIX - SUM + b, tag);
  return memcmp(sum, record, SUM) == 0 ? b : 0;
}

void gfs_shards_write_end(uint8_t *record, uint64_t tag, const gfs_shards_end *end) {
  put(record + GFS_SHARDS_PREFIX, end->length, 8);
  memcpy(record + GFS_SHARDS_PREFIX + 8, end->original, sizeof end->original);
  gfs_shards_seal(record, tag, end->stripes, GFS_SHARDS_TRAILER, GFS_SHARDS_TRAILER_RECORD);
}

bool gfs_shards_read_end(const gfsmith_shards_header *header, const uint8_t *record, size_t size,
                         uint64_t tag, gfs_shards_end *end) {
  uint64_t span = (uint64_t)header->k * header->block;
  if (size < GFS_SHARDS_PREFIX + GFS_SHARDS_TRAILER)
    return false;
  uint64_t number = get(record + 16, 8), length = get(record + GFS_SHARDS_PREFIX, 8);
  if (gfs_shards_open(record, size, tag, number, GFS_SHARDS_TRAILER_RECORD, GFS_SHARDS_TRAILER) !=
          GFS_SHARDS_TRAILER ||
      length > GFS_SHARDS_MAX_LENGTH || number != length / span + (length % span != 0))
    return false;
  end->stripes = number;
  end->length = length;
  memcpy(end->original, record + GFS_SHARDS_PREFIX + 8, sizeof end->original);
  return true;
}

uint32_t gfs_shards_block_bytes(const gfsmith_shards_header *header, uint64_t length,
                                uint64_t stripe) {
  uint64_t span = (uint64_t)header->k * header->block, rest = length - stripe * span;
  return rest >= span ? header->block : (uint32_t)((rest + header->k - 1) / header->k);
}

gfsmith_status gfs_shards_codec(const gfsmith_shards_header *header, gfsmith_codec **codec) {
  if (strcmp(header->code, "lrc") == 0)
    return gfsmith_codec_create_lrc(codec, header->k, header->l, header->m - header->l);
  return gfsmith_codec_create(codec, header->code, header->k, header->m);
}

const char *gfsmith_shards_strerror(int status) {
  switch (status) {
  case GFSMITH_SHARDS_EREAD:
    return "the original cannot be read";
  case GFSMITH_SHARDS_EWRITE:
    return "a stream cannot be written";
  case GFSMITH_SHARDS_ECANCELED:
    return "the call was canceled";
  case GFSMITH_SHARDS_EFORMAT:
    return "no stream has the header of a shard";
  case GFSMITH_SHARDS_EMIXED:
    return "shards of different sets, or two with the same index";
  case GFSMITH_SHARDS_EDAMAGED:
    return "no trailer is intact, or the checksum of the original does not match";
  default:
    return gfsmith_strerror((gfsmith_status)status);
  }
}
