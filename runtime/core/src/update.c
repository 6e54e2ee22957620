#include <stdalign.h>
#include <string.h>

#include "codec.h"
#include "inlining.h"
#include "parts.h"
#include "sizes.h"

/* The beginning of the tables of a shard's coefficients, which are contiguous. */
static const uint8_t *tables_of(const gfs_change *c, const gfs_pass *pass, unsigned n) {
  return pass->tables + (size_t)c->index[n] * pass->outputs * c->codec->encoder->entry;
}

/* Run one pass with several sources, whose tables are first copied together. */
static void add_several(const gfs_change *c, unsigned n, gfs_path path, size_t len,
                        const uint8_t *const *src, uint8_t *const *dst) {
  alignas(GFS_CACHE_LINE) uint8_t gathered[GFS_SOURCES_MAX * GFS_PASS_MAX * GFS_ENTRY_MAX];
  const gfs_pass *pass = c->codec->encoder->pass + c->codec->encoder->dots + n;
  size_t bytes = pass->outputs * c->codec->encoder->entry;
  for (unsigned s = 0; s < c->count; s++)
    memcpy(gathered + s * bytes, tables_of(c, pass, s), bytes);
  gfsmith_kernel *run = c->codec->adders->pass[n].add[c->count - 1][path];
  run(len, c->count, gathered, src, dst + pass->first);
}

/* Run one pass on len bytes. */
static void apply_pass(const gfs_change *c, unsigned n, gfs_path path, size_t len,
                       const uint8_t *const *src, uint8_t *const *dst) {
  if (c->count > 1) {
    add_several(c, n, path, len, src, dst);
    return;
  }
  const gfs_pass *pass = c->codec->encoder->pass + c->codec->encoder->dots + n;
  const gfs_adder *adder = &c->codec->adders->pass[n];
  gfsmith_kernel *run = c->set ? adder->set[path] : adder->add[0][path];
  run(len, 1, tables_of(c, pass, 0), src, dst + pass->first);
}

/* Run all passes, in chunks that stay in cache if there are several. */
static void apply(const gfs_change *c, size_t len, uint8_t *const *parity) {
  const gfs_map *encoder = c->codec->encoder;
  gfs_path path = gfs_path_of(c->hint, c->count + encoder->outputs, len);
  if (encoder->mads == 1) {
    apply_pass(c, 0, path, len, c->sources, parity);
    return;
  }
  const uint8_t *src[GFS_SOURCES_MAX];
  uint8_t *dst[GFSMITH_MAX_SHARDS];
  size_t chunk = gfs_map_chunk(c->count + encoder->outputs), piece;
  for (size_t start = 0; start < len; start += piece) {
    piece = gfs_least(len - start, chunk);
    for (unsigned s = 0; s < c->count; s++)
      src[s] = c->sources[s] + start;
    for (unsigned i = 0; i < encoder->outputs; i++)
      dst[i] = parity[i] + start;
    for (unsigned n = 0; n < encoder->mads; n++)
      apply_pass(c, n, path, piece, src, dst);
  }
}

static void add_packets(const gfs_change *c, size_t len, uint8_t *const *parity) {
  const gfsmith_codec *codec = c->codec;
  for (unsigned i = 0; i < codec->m; i++) {
    if (c->set)
      memset(parity[i], 0, len);
    for (unsigned s = 0; s < c->count; s++)
      gfs_packets_accumulate(codec->packets, &codec->field, len,
                             codec->matrix[(size_t)i * codec->k + c->index[s]], c->sources[s],
                             parity[i]);
  }
}

void gfs_change_part(const gfs_change *c, size_t len, uint8_t *const *parity) {
  if (c->codec->packets != NULL) {
    add_packets(c, len, parity);
    return;
  }
  if (c->count == 1) {
    apply(c, len, parity);
    return;
  }
  unsigned most = c->codec->adders->most;
  gfs_change part = *c;
  for (unsigned done = 0; done < c->count; done += part.count) {
    part.count = c->count - done < most ? c->count - done : most;
    part.index = c->index + done;
    part.sources = c->sources + done;
    apply(&part, len, parity);
  }
}

/* Does the build have the kernels for the change? */
static bool change_supported(const gfs_change *c) {
  if (c->codec->packets != NULL)
    return c->codec->packets->add != NULL;
  return c->set ? c->codec->adders->sets : c->codec->adders->most > 0;
}

static bool indices_valid(const gfsmith_codec *codec, unsigned count, const unsigned *indices) {
  for (unsigned n = 0; n < count; n++)
    if (indices[n] >= codec->k)
      return false;
  return true;
}

gfsmith_status gfs_change_check(const gfs_change *c, size_t len, uint8_t *const *parity) {
  const gfsmith_codec *codec = c->codec;
  if (c->index == NULL || !indices_valid(codec, c->count, c->index) ||
      !gfs_all_given(c->sources, c->count) ||
      !gfs_all_given((const uint8_t *const *)parity, codec->m) || !gfs_length_valid(codec, len))
    return GFSMITH_EINVAL;
  return change_supported(c) ? GFSMITH_OK : GFSMITH_EUNSUPPORTED;
}

static gfsmith_status change_parities(const gfs_change *c, size_t len, uint8_t *const *parity) {
  gfsmith_status status = gfs_change_check(c, len, parity);
  if (status == GFSMITH_OK)
    gfs_change_part(c, len, parity);
  return status;
}

gfsmith_status gfsmith_update_many(const gfsmith_codec *codec, size_t len, unsigned count,
                                   const unsigned *indices, const uint8_t *const *deltas,
                                   uint8_t *const *parity) {
  if (codec == NULL)
    return GFSMITH_EINVAL;
  if (len == 0 || count == 0)
    return GFSMITH_OK;
  gfs_change c = {codec, codec->hint, count, indices, deltas, false};
  return change_parities(&c, len, parity);
}

/* gfs_clearly_given without a jump for up to four parities. */
static inline bool parities_clearly_given(uint8_t *const *parity, size_t m) {
  if (parity == NULL)
    return false;
  if (GFS_UNLIKELY(m > 4))
    return gfs_common_bits((const uint8_t *const *)parity, m) != 0;
  return ((uintptr_t)parity[0] & (uintptr_t)parity[m / 4] & (uintptr_t)parity[m / 2] &
          (uintptr_t)parity[m - 1]) != 0;
}

static GFS_NOT_INLINED gfsmith_status append_any(const gfsmith_codec *codec, size_t len,
                                                 unsigned data_index, const uint8_t *data,
                                                 uint8_t *const *parity, bool first) {
  if (len == 0)
    return GFSMITH_OK;
  gfs_change c = {codec, codec->hint, 1, &data_index, &data, first};
  return change_parities(&c, len, parity);
}

static GFS_INLINED gfsmith_status append_source(const gfsmith_codec *codec, size_t len,
                                                unsigned data_index, const uint8_t *data,
                                                uint8_t *const *parity, bool first) {
  if (codec == NULL || data_index >= codec->k)
    return GFSMITH_EINVAL;
  const gfs_short_update *brief = &codec->short_update;
  if (GFS_UNLIKELY(!gfs_length_within(len, brief->most) || data == NULL ||
                   !parities_clearly_given(parity, codec->m)))
    return append_any(codec, len, data_index, data, parity, first);
  gfsmith_kernel *run = first ? brief->set : brief->add;
  run(len, 1, brief->tables + data_index * brief->column, &data, parity);
  return GFSMITH_OK;
}

GFS_SHORT_CALL GFS_ONE_POINTER gfsmith_status gfsmith_append(const gfsmith_codec *codec, size_t len,
                                                             unsigned data_index,
                                                             const uint8_t *data,
                                                             uint8_t *const *parity, bool first) {
  return append_source(codec, len, data_index, data, parity, first);
}

GFS_SHORT_CALL GFS_ONE_POINTER gfsmith_status gfsmith_update(const gfsmith_codec *codec, size_t len,
                                                             unsigned data_index,
                                                             const uint8_t *delta,
                                                             uint8_t *const *parity) {
  return append_source(codec, len, data_index, delta, parity, false);
}
