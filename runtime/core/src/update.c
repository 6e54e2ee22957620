#include <stdalign.h>
#include <string.h>

#include "codec.h"
#include "sizes.h"

/* Data shards, and the change of the parities that they cause. */
typedef struct change {
  const gfsmith_codec *codec;
  unsigned count;                /* <= GFS_SOURCES_MAX */
  const unsigned *index;         /* indices of these shards */
  const uint8_t *const *sources; /* their contents, or the differences of old and new contents */
  bool set;                      /* overwrite the parities instead of adding to them; count = 1 */
} change;

/* The beginning of the tables of a shard's coefficients, which are contiguous. */
static const uint8_t *tables_of(const change *c, const gfs_pass *pass, unsigned n) {
  return pass->tables + (size_t)c->index[n] * pass->outputs * c->codec->encoder->entry;
}

/* Run one pass with several sources, whose tables are first copied together. */
static void add_several(const change *c, unsigned n, gfs_path path, size_t len,
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
static void apply_pass(const change *c, unsigned n, gfs_path path, size_t len,
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
static void apply(const change *c, size_t len, uint8_t *const *parity) {
  const gfs_map *encoder = c->codec->encoder;
  gfs_path path = gfs_path_of(c->codec->hint, c->count + encoder->outputs, len);
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

static void add_packets(const change *c, size_t len, uint8_t *const *parity) {
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

/* Apply a change of any number of shards, in either layout. */
static gfsmith_status change_parities(const change *c, size_t len, uint8_t *const *parity) {
  if (c->codec->packets != NULL) {
    if (c->codec->packets->add == NULL)
      return GFSMITH_EUNSUPPORTED;
    add_packets(c, len, parity);
    return GFSMITH_OK;
  }
  unsigned most = c->codec->adders->most;
  if (c->set ? !c->codec->adders->sets : most == 0)
    return GFSMITH_EUNSUPPORTED;
  if (c->count == 1) {
    apply(c, len, parity);
    return GFSMITH_OK;
  }
  change part = *c;
  for (unsigned done = 0; done < c->count; done += part.count) {
    part.count = c->count - done < most ? c->count - done : most;
    part.index = c->index + done;
    part.sources = c->sources + done;
    apply(&part, len, parity);
  }
  return GFSMITH_OK;
}

static bool indices_valid(const gfsmith_codec *codec, unsigned count, const unsigned *indices) {
  for (unsigned n = 0; n < count; n++)
    if (indices[n] >= codec->k)
      return false;
  return true;
}

gfsmith_status gfsmith_update_many(const gfsmith_codec *codec, size_t len, unsigned count,
                                   const unsigned *indices, const uint8_t *const *deltas,
                                   uint8_t *const *parity) {
  if (codec == NULL)
    return GFSMITH_EINVAL;
  if (len == 0 || count == 0)
    return GFSMITH_OK;
  if (indices == NULL || !indices_valid(codec, count, indices) || !gfs_all_given(deltas, count) ||
      !gfs_all_given((const uint8_t *const *)parity, codec->m) || !gfs_length_valid(codec, len))
    return GFSMITH_EINVAL;
  change c = {.codec = codec, .count = count, .index = indices, .sources = deltas};
  return change_parities(&c, len, parity);
}

gfsmith_status gfsmith_append(const gfsmith_codec *codec, size_t len, unsigned data_index,
                              const uint8_t *data, uint8_t *const *parity, bool first) {
  if (codec == NULL || data_index >= codec->k)
    return GFSMITH_EINVAL;
  if (len == 0)
    return GFSMITH_OK;
  if (data == NULL || !gfs_all_given((const uint8_t *const *)parity, codec->m) ||
      !gfs_length_valid(codec, len))
    return GFSMITH_EINVAL;
  change c = {.codec = codec, .count = 1, .index = &data_index, .sources = &data, .set = first};
  return change_parities(&c, len, parity);
}

gfsmith_status gfsmith_update(const gfsmith_codec *codec, size_t len, unsigned data_index,
                              const uint8_t *delta, uint8_t *const *parity) {
  return gfsmith_append(codec, len, data_index, delta, parity, false);
}
