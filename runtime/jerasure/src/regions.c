#include "regions.h"

#include <stdalign.h>
#include <string.h>

#include "map.h"
#include "planes.h"
#include "probe.h"
#include "sizes.h"

/* The most byte planes of the sources of a kernel call, and the bytes of each plane of words of 16
 * and 32 bits that are split at a time. So tables and planes need at most 34 KiB of stack. */
enum { PLANES = 64, PIECE = 256 };

/* The part of a map that one kernel computes: `inputs` sources from `from` on, `outputs` results
 * from `first` on. */
typedef struct block {
  const gfs_jerasure_map *map;
  const gfs_isa *isa;
  gfs_path path;
  unsigned bytes; /* of a word, each of which is a plane */
  unsigned from, inputs, first, outputs;
  bool add;
  alignas(GFS_CACHE_LINE) uint8_t tables[PLANES * GFS_PASS_MAX * GFS_ENTRY_MAX];
} block;

static gfsmith_kernel *kernel_of(const block *b, bool add, unsigned outputs) {
  return gfs_dispatch_kernel(b->isa, add ? GFS_OPERATION_mad : GFS_OPERATION_dot,
                             b->inputs * b->bytes, outputs * b->bytes, b->path);
}

static bool has_kernels(const void *of, unsigned outputs) {
  const block *b = of;
  return outputs * b->bytes <= GFS_PASS_MAX && kernel_of(b, false, outputs) != NULL &&
         kernel_of(b, true, outputs) != NULL;
}

/* Write the entries of one element: from each plane of a source to each plane of a result. */
static void fill_element(const block *b, const gfs_jerasure_modulus *modulus, uint32_t element,
                         unsigned input, unsigned output) {
  uint8_t column[4][4][8];
  for (unsigned bit = 0; bit < modulus->width; bit++) {
    for (unsigned to = 0; to < b->bytes; to++)
      column[bit / 8][to][bit % 8] = (uint8_t)(element >> 8 * to);
    uint32_t carry = element >> (modulus->width - 1) & 1;
    element = element << 1 ^ (modulus->low & -carry);
  }
  const size_t entry = gfs_tables_entry(b->isa->format);
  for (unsigned from = 0; from < b->bytes; from++)
    for (unsigned to = 0; to < b->bytes; to++) {
      size_t row = (size_t)(input * b->bytes + from) * b->outputs * b->bytes;
      gfs_tables_fill_map(b->isa->format, column[from][to],
                          (uint8_t *)b->tables + (row + output * b->bytes + to) * entry);
    }
}

static void fill_tables(const block *b) {
  const gfs_jerasure_modulus *modulus = gfs_jerasure_modulus_of(b->map->field);
  for (unsigned j = 0; j < b->inputs; j++)
    for (unsigned i = 0; i < b->outputs; i++) {
      const int *row = b->map->matrix + (size_t)(b->first + i) * b->map->inputs;
      fill_element(b, modulus, (uint32_t)row[b->from + j], j, i);
    }
}

/* Run a kernel on words of 16 or 32 bits, piece by piece. */
static void run_planes(const block *b, gfsmith_kernel *kernel, const uint8_t *const *src,
                       uint8_t *const *dst, size_t size) {
  alignas(GFS_CACHE_LINE) uint8_t in[PLANES][PIECE], out[GFS_PASS_MAX][PIECE];
  const uint8_t *from[PLANES];
  uint8_t *to[GFS_PASS_MAX];
  for (unsigned p = 0; p < b->inputs * b->bytes; p++)
    from[p] = in[p];
  for (unsigned p = 0; p < b->outputs * b->bytes; p++)
    to[p] = out[p];
  for (size_t at = 0, words; at < size; at += words * b->bytes) {
    words = gfs_least((size - at) / b->bytes, PIECE);
    for (unsigned j = 0; j < b->inputs; j++)
      gfs_jerasure_split(src[b->from + j] + at, b->bytes, words, in[j * b->bytes], PIECE);
    for (unsigned i = 0; b->add && i < b->outputs; i++)
      gfs_jerasure_split(dst[b->first + i] + at, b->bytes, words, out[i * b->bytes], PIECE);
    kernel(words, b->inputs * b->bytes, b->tables, from, to);
    for (unsigned i = 0; i < b->outputs; i++)
      gfs_jerasure_join(out[i * b->bytes], PIECE, b->bytes, words, dst[b->first + i] + at);
  }
}

/* Compute the outputs of a block from all sources, PLANES at a time. */
static void run_outputs(block *b, const uint8_t *const *src, uint8_t *const *dst, size_t size) {
  const unsigned all = b->map->inputs, most = PLANES / b->bytes;
  b->add = b->map->add;
  for (b->from = 0; b->from < all; b->from += b->inputs) {
    b->inputs = all - b->from < most ? all - b->from : most;
    fill_tables(b);
    gfsmith_kernel *kernel = kernel_of(b, b->add, b->outputs);
    if (b->bytes == 1)
      kernel(size, b->inputs, b->tables, src + b->from, dst + b->first);
    else
      run_planes(b, kernel, src, dst, size);
    b->add = true;
  }
}

/* One output, by the field's own products of regions. */
static void run_regions(const gfs_jerasure_map *map, const int *row, const uint8_t *const *src,
                        uint8_t *dst, size_t size) {
  bool add = map->add;
  for (unsigned j = 0; j < map->inputs; j++) {
    if (row[j] == 0)
      continue;
    if (row[j] == 1 && add)
      gfs_jerasure_add(size, src[j], dst);
    else if (row[j] == 1)
      memcpy(dst, src[j], size);
    else
      map->field->multiply_region(map->field, (void *)src[j], dst, (uint32_t)row[j], (int)size,
                                  add);
    add = true;
  }
  if (!add)
    memset(dst, 0, size);
}

/* One output without kernels, word by word. */
static void run_words(const gfs_jerasure_map *map, const int *row, const uint8_t *const *src,
                      uint8_t *dst, size_t size) {
  const unsigned bytes = map->width / 8;
  for (size_t at = 0; at < size; at += bytes) {
    uint32_t sum = 0;
    for (unsigned j = 0; j < map->inputs; j++) {
      uint32_t word = 0;
      for (unsigned n = 0; n < bytes; n++)
        word |= (uint32_t)src[j][at + n] << 8 * n;
      sum ^= map->field->multiply(map->field, word, (uint32_t)row[j]);
    }
    for (unsigned n = 0; n < bytes; n++)
      dst[at + n] = (uint8_t)((map->add ? dst[at + n] : 0) ^ (uint8_t)(sum >> 8 * n));
  }
}

static bool is_sum(const gfs_jerasure_map *map) {
  if (map->add || map->outputs != 1)
    return false;
  for (unsigned j = 0; j < map->inputs; j++)
    if (map->matrix[j] != 1)
      return false;
  return true;
}

static gfs_path path_of(const gfs_jerasure_map *map, const uint8_t *const *src, size_t size) {
  const unsigned shards = map->inputs + map->outputs;
  if (map->width != 8)
    return GFS_PATH_cached; /* kernels work on the planes of a piece */
  gfs_path path = gfs_path_of(GFSMITH_HINT_AUTO, shards, size);
  return gfs_path_probed(path, shards, size, src, map->inputs);
}

static void apply_kernels(const gfs_jerasure_map *map, const uint8_t *const *src,
                          uint8_t *const *dst, size_t size) {
  block b;
  b.map = map;
  b.isa = gfs_dispatch_isa();
  b.path = path_of(map, src, size);
  b.bytes = map->width / 8;
  for (b.first = 0; b.first < map->outputs; b.first += b.outputs) {
    b.inputs = PLANES / b.bytes;
    b.outputs = b.isa == NULL ? 0 : gfs_map_balanced(has_kernels, &b, map->outputs - b.first);
    if (b.outputs > 0)
      run_outputs(&b, src, dst, size);
    else {
      b.outputs = 1;
      run_words(map, map->matrix + (size_t)b.first * map->inputs, src, dst[b.first], size);
    }
  }
}

void gfs_jerasure_apply(const gfs_jerasure_map *map, const uint8_t *const *src, uint8_t *const *dst,
                        size_t size) {
  if (map->inputs == 0 || size == 0)
    return;
  if (is_sum(map))
    gfs_jerasure_sum(size, map->inputs, src, dst[0]);
  else if (gfs_jerasure_modulus_of(map->field) != NULL)
    apply_kernels(map, src, dst, size);
  else
    for (unsigned i = 0; i < map->outputs; i++)
      run_regions(map, map->matrix + (size_t)i * map->inputs, src, dst[i], size);
}

void gfs_jerasure_multiply_region(gf_t *field, uint32_t by, const uint8_t *src, uint8_t *dest,
                                  size_t size, bool add) {
  const int matrix[1] = {(int)by};
  const unsigned width = gfs_jerasure_modulus_of(field)->width;
  const gfs_jerasure_map map = {field, width, 1, 1, matrix, add};
  uint8_t copy[16 * PIECE]; /* the source of a piece, because a destination overlaps no source */
  for (size_t at = 0, part; at < size; at += part) {
    part = src == dest ? gfs_least(size - at, sizeof copy) : size;
    const uint8_t *from = src + at;
    uint8_t *to = dest + at;
    if (src == dest)
      from = memcpy(copy, from, part);
    gfs_jerasure_apply(&map, &from, &to, part);
  }
}

static void sum_words(size_t size, unsigned count, const uint8_t *const *src, uint8_t *dst) {
  memmove(dst, src[0], size);
  for (unsigned j = 1; j < count; j++)
    for (size_t n = 0; n < size; n++)
      dst[n] ^= src[j][n];
}

void gfs_jerasure_sum(size_t size, unsigned count, const uint8_t *const *src, uint8_t *dst) {
  const gfs_isa *isa = gfs_dispatch_isa();
  gfs_path path = gfs_path_of(GFSMITH_HINT_AUTO, count + 1, size);
  gfsmith_kernel *kernel =
      isa == NULL ? NULL : gfs_dispatch_kernel(isa, GFS_OPERATION_xor, count, 1, path);
  if (count == 1)
    memmove(dst, src[0], size);
  else if (kernel != NULL)
    kernel(size, count, NULL, src, &dst);
  else
    sum_words(size, count, src, dst);
}

void gfs_jerasure_add(size_t size, const uint8_t *src, uint8_t *dst) {
  gfs_jerasure_modulus modulus = {8, 0x1d};
  gf_t field = {.multiply = gfs_jerasure_multiply, .scratch = &modulus};
  gfs_jerasure_multiply_region(&field, 1, src, dst, size, true);
}
