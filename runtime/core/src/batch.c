#include "codec.h"
#include "parts.h"
#include "pointers.h"
#include "prefetch.h"
#include "sizes.h"

/* Pointers that a strided call writes at a time: those of several stripes, and of the stripe that
 * follows them. With 255 shards these are three stripes. */
#define BLOCK_POINTERS 1024u

/* A batch call. */
typedef struct batch {
  const gfsmith_codec *codec;
  size_t len;
  gfs_path path;
} batch;

/* The location of the shards depends on the whole call. `shards`: read and written shards of a
 * stripe. */
static batch batch_of(const gfsmith_codec *codec, size_t len, size_t count, unsigned shards) {
  /* More stripes than fit in any cache, of two bytes or more, do not change the path. */
  size_t stripes = gfs_least(count, GFS_OWN_CACHE_MOST);
  return (batch){codec, len, gfs_path_of(codec->hint, (unsigned)(stripes * shards), len)};
}

static gfsmith_hint hint_of(const batch *b) {
  return gfs_path_is_cached(b->path) ? GFSMITH_HINT_CACHED : GFSMITH_HINT_STREAMING;
}

/* Prefetch the first bytes of shards, gfs_next_stripe_bytes() of all together. */
static void fetch_shards(size_t len, unsigned count, const uint8_t *const *shards) {
  size_t most = gfs_least(len, gfs_next_stripe_bytes() / count);
  for (unsigned n = 0; n < count; n++)
    gfs_prefetch_second(shards[n], most);
}

/* Prefetch the shards of the next stripe, if any, if two stripes fit in a core's own cache. The
 * repair of a parity that is always 0 reads none. */
static void fetch_next(const batch *b, unsigned count, const uint8_t *const *shards) {
  if (count > 0 && !gfs_path_is_cached(b->path) && b->len <= gfs_next_stripe_bytes() / count)
    fetch_shards(b->len, count, shards);
}

static void encode_block(const batch *b, gfs_stripes s) {
  const gfsmith_codec *codec = b->codec;
  if (codec->packets == NULL) {
    gfs_map_apply_stripes(codec->encoder, b->path, b->len, s);
    return;
  }
  for (size_t n = 0; n < s.count; n++) {
    if (n + 1 < s.count || s.more)
      fetch_next(b, codec->k, s.src + (n + 1) * codec->k);
    gfs_encode_part(codec, hint_of(b), b->len, s.src + n * codec->k, s.dst + n * codec->m);
  }
}

/* Are the arguments of a call that encodes valid? */
static bool stripes_valid(const gfsmith_codec *codec, size_t len, size_t count,
                          const uint8_t *const *data, uint8_t *const *parity) {
  return gfs_many_given(codec->isa, data, count * codec->k) &&
         gfs_many_given(codec->isa, (const uint8_t *const *)parity, count * codec->m) &&
         gfs_length_valid(codec, len);
}

gfsmith_status gfsmith_encode_stripes(const gfsmith_codec *codec, size_t len, size_t count,
                                      const uint8_t *const *data, uint8_t *const *parity) {
  if (codec == NULL)
    return GFSMITH_EINVAL;
  if (len == 0 || count == 0)
    return GFSMITH_OK;
  if (!stripes_valid(codec, len, count, data, parity))
    return GFSMITH_EINVAL;
  batch b = batch_of(codec, len, count, codec->k + codec->m);
  encode_block(&b, (gfs_stripes){count, data, parity, false});
  return GFSMITH_OK;
}

gfsmith_status gfsmith_encode_stripes_checksums(const gfsmith_codec *codec, gfsmith_checksum kind,
                                                size_t len, size_t count,
                                                const uint8_t *const *data, uint8_t *const *parity,
                                                uint64_t *states) {
  if (codec == NULL)
    return GFSMITH_EINVAL;
  const unsigned shards = codec->k + codec->m;
  gfs_crc_shards sums;
  if (gfs_crc_shards_begin(&sums, kind, count > 0 ? len : 0, count * shards, states) != GFSMITH_OK)
    return GFSMITH_EINVAL;
  if (len == 0 || count == 0)
    return GFSMITH_OK;
  if (!stripes_valid(codec, len, count, data, parity))
    return GFSMITH_EINVAL;
  batch b = batch_of(codec, len, count, shards);
  for (size_t s = 0; s < count; s++, data += codec->k, parity += codec->m, states += shards) {
    if (s + 1 < count)
      fetch_next(&b, codec->k, data + codec->k);
    gfs_encode_checked(codec, hint_of(&b), &sums, data, parity, states);
  }
  return GFSMITH_OK;
}

/* Can `shards` written shards of each of `count` stripes be apart? */
static bool apart(size_t len, size_t count, unsigned shards, gfsmith_stride stride) {
  return (shards == 1 || stride.shard >= len) && (count == 1 || stride.stripe >= len);
}

/* The stripes of a block, if each has this number of pointers. */
static size_t block_stripes(unsigned pointers) { return BLOCK_POINTERS / pointers - 1; }

/* The stripes of a block from stripe `done` on, of `count`. */
static gfs_stripes block_of(size_t done, size_t count, size_t most, const uint8_t *const *src,
                            uint8_t *const *dst) {
  size_t left = count - done;
  return (gfs_stripes){gfs_least(left, most), src, dst, left > most};
}

/* Write the pointers of the shards of `count` stripes from stripe `first` on. */
static void place_read(const uint8_t **out, const uint8_t *base, gfsmith_stride stride,
                       size_t first, size_t count, unsigned shards) {
  for (size_t s = first; s < first + count; s++)
    for (unsigned n = 0; n < shards; n++)
      *out++ = base + s * stride.stripe + n * stride.shard;
}

static void place_written(uint8_t **out, uint8_t *base, gfsmith_stride stride, size_t first,
                          size_t count, unsigned shards) {
  for (size_t s = first; s < first + count; s++)
    for (unsigned n = 0; n < shards; n++)
      *out++ = base + s * stride.stripe + n * stride.shard;
}

gfsmith_status gfsmith_encode_strided(const gfsmith_codec *codec, size_t len, size_t count,
                                      const uint8_t *data, gfsmith_stride data_stride,
                                      uint8_t *parity, gfsmith_stride parity_stride) {
  if (codec == NULL)
    return GFSMITH_EINVAL;
  if (len == 0 || count == 0)
    return GFSMITH_OK;
  if (data == NULL || parity == NULL || !apart(len, count, codec->m, parity_stride) ||
      !gfs_length_valid(codec, len))
    return GFSMITH_EINVAL;
  const uint8_t *src[BLOCK_POINTERS];
  uint8_t *dst[BLOCK_POINTERS];
  batch b = batch_of(codec, len, count, codec->k + codec->m);
  size_t most = block_stripes(codec->k > codec->m ? codec->k : codec->m);
  gfs_stripes s;
  for (size_t done = 0; done < count; done += s.count) {
    s = block_of(done, count, most, src, dst);
    place_read(src, data, data_stride, done, s.count + s.more, codec->k);
    place_written(dst, parity, parity_stride, done, s.count, codec->m);
    encode_block(&b, s);
  }
  return GFSMITH_OK;
}

/* Are the indices of a batch of updates valid? */
static bool indices_given(const gfsmith_codec *codec, size_t count, const unsigned *indices) {
  if (indices == NULL)
    return false;
  for (size_t s = 0; s < count; s++)
    if (indices[s] >= codec->k)
      return false;
  return true;
}

/* The status of a batch of updates whose pointers are given: that of its first stripe. */
static gfsmith_status update_check(const batch *b, size_t count, const unsigned *indices,
                                   const uint8_t *const *deltas, uint8_t *const *parity) {
  if (!indices_given(b->codec, count, indices))
    return GFSMITH_EINVAL;
  gfs_change c = {b->codec, hint_of(b), 1, indices, deltas, false};
  return gfs_change_check(&c, b->len, parity);
}

/* Update stripes; src: their deltas, dst: their parities. */
static void update_block(const batch *b, const unsigned *indices, gfs_stripes s) {
  unsigned m = b->codec->m;
  for (size_t n = 0; n < s.count; n++) {
    if (n + 1 < s.count || s.more) {
      fetch_next(b, 1, s.src + n + 1);
      fetch_next(b, m, (const uint8_t *const *)s.dst + (n + 1) * m);
    }
    gfs_change c = {b->codec, hint_of(b), 1, indices + n, s.src + n, false};
    gfs_change_part(&c, b->len, s.dst + n * m);
  }
}

gfsmith_status gfsmith_update_stripes(const gfsmith_codec *codec, size_t len, size_t count,
                                      const unsigned *indices, const uint8_t *const *deltas,
                                      uint8_t *const *parity) {
  if (codec == NULL)
    return GFSMITH_EINVAL;
  if (len == 0 || count == 0)
    return GFSMITH_OK;
  if (!gfs_all_given(deltas, count) ||
      !gfs_all_given((const uint8_t *const *)parity, count * codec->m))
    return GFSMITH_EINVAL;
  batch b = batch_of(codec, len, count, 1 + codec->m);
  gfsmith_status status = update_check(&b, count, indices, deltas, parity);
  if (status == GFSMITH_OK)
    update_block(&b, indices, (gfs_stripes){count, deltas, parity, false});
  return status;
}

gfsmith_status gfsmith_update_strided(const gfsmith_codec *codec, size_t len, size_t count,
                                      const unsigned *indices, const uint8_t *deltas,
                                      size_t delta_stride, uint8_t *parity,
                                      gfsmith_stride parity_stride) {
  if (codec == NULL)
    return GFSMITH_EINVAL;
  if (len == 0 || count == 0)
    return GFSMITH_OK;
  if (deltas == NULL || parity == NULL || !apart(len, count, codec->m, parity_stride))
    return GFSMITH_EINVAL;
  const uint8_t *src[BLOCK_POINTERS];
  uint8_t *dst[BLOCK_POINTERS];
  batch b = batch_of(codec, len, count, 1 + codec->m);
  size_t most = block_stripes(codec->m);
  gfs_stripes s;
  for (size_t done = 0; done < count; done += s.count) {
    s = block_of(done, count, most, src, dst);
    place_read(src, deltas, (gfsmith_stride){0, delta_stride}, done, s.count + s.more, 1);
    place_written(dst, parity, parity_stride, done, s.count + s.more, codec->m);
    gfsmith_status status = done > 0 ? GFSMITH_OK : update_check(&b, count, indices, src, dst);
    if (status != GFSMITH_OK)
      return status;
    update_block(&b, indices + done, s);
  }
  return GFSMITH_OK;
}

/* Are the pointers that a plan needs given in each of the stripes? */
static bool plan_given(const gfsmith_plan *plan, size_t count, uint8_t *const *shards,
                       unsigned width) {
  const uint8_t *src[GFSMITH_MAX_SHARDS];
  uint8_t *dst[GFSMITH_MAX_SHARDS];
  for (size_t s = 0; s < count; s++)
    if (!gfs_plan_select(plan, shards + s * width, src, dst))
      return false;
  return true;
}

/* Run a plan on the stripes whose shards' pointers are given; with `more` those of one more stripe
 * are given too. count + 1 stripes have at most BLOCK_POINTERS shards. */
static void repair_block(const batch *b, const gfsmith_plan *plan, size_t count, bool more,
                         uint8_t *const *shards) {
  const uint8_t *src[BLOCK_POINTERS];
  uint8_t *dst[BLOCK_POINTERS];
  unsigned inputs = plan->read.count, outputs = plan->target.count;
  for (size_t s = 0; s < count + more; s++)
    (void)gfs_plan_select(plan, shards + s * (b->codec->k + b->codec->m), src + s * inputs,
                          dst + s * outputs);
  if (plan->map != NULL) {
    gfs_map_apply_stripes(plan->map, b->path, b->len, (gfs_stripes){count, src, dst, more});
    return;
  }
  for (size_t s = 0; s < count; s++) {
    if (s + 1 < count || more)
      fetch_next(b, inputs, src + (s + 1) * inputs);
    gfs_plan_part(plan, hint_of(b), b->len, src + s * inputs, dst + s * outputs);
  }
}

/* The addresses of the shards of a repair: pointers, or if `pointers` is NULL, an address and
 * distances. */
typedef struct placed {
  uint8_t *const *pointers;
  uint8_t *base;
  gfsmith_stride stride;
} placed;

static gfsmith_status run_repair(const gfsmith_codec *codec, size_t len, size_t count,
                                 const placed *where, const gfsmith_plan *plan) {
  unsigned width = codec->k + codec->m;
  if (where->pointers != NULL && !plan_given(plan, count, where->pointers, width))
    return GFSMITH_EINVAL;
  batch b = batch_of(codec, len, count, plan->read.count + plan->target.count);
  uint8_t *shards[BLOCK_POINTERS];
  size_t most = block_stripes(width), stripes;
  for (size_t done = 0; done < count; done += stripes) {
    stripes = gfs_least(count - done, most);
    bool more = count - done > stripes;
    if (where->pointers == NULL)
      place_written(shards, where->base, where->stride, done, stripes + more, width);
    repair_block(&b, plan, stripes, more,
                 where->pointers != NULL ? where->pointers + done * width : shards);
  }
  return GFSMITH_OK;
}

static gfsmith_status repair_stripes(const gfsmith_codec *codec, size_t len, size_t count,
                                     const placed *where, const bool *present, const bool *wanted) {
  gfs_repair found;
  /* The first argument of pointers that may be NULL is checked with the plan. */
  uint8_t *const *any = where->pointers != NULL ? where->pointers : &where->base;
  gfsmith_status status =
      gfs_repair_begin(codec, count > 0 ? len : 0, any, present, wanted, &found);
  if (status != GFSMITH_OK)
    return status;
  if (found.plan != NULL && len > 0 && count > 0)
    status = run_repair(codec, len, count, where, found.plan);
  gfs_repair_end(codec, &found);
  return status;
}

gfsmith_status gfsmith_reconstruct_stripes(const gfsmith_codec *codec, size_t len, size_t count,
                                           uint8_t *const *shards, const bool *present,
                                           const bool *wanted) {
  if (len > 0 && count > 0 && shards == NULL)
    return GFSMITH_EINVAL;
  placed where = {.pointers = shards};
  return repair_stripes(codec, len, count, &where, present, wanted);
}

gfsmith_status gfsmith_reconstruct_strided(const gfsmith_codec *codec, size_t len, size_t count,
                                           uint8_t *shards, gfsmith_stride stride,
                                           const bool *present, const bool *wanted) {
  if (codec == NULL ||
      (len > 0 && count > 0 && (shards == NULL || !apart(len, count, codec->k + codec->m, stride))))
    return GFSMITH_EINVAL;
  placed where = {.base = shards, .stride = stride};
  return repair_stripes(codec, len, count, &where, present, wanted);
}

static void check_block(const batch *b, size_t count, bool more, const uint8_t *const *shards,
                        bool *ok) {
  unsigned width = b->codec->k + b->codec->m;
  for (size_t s = 0; s < count; s++) {
    if (s + 1 < count || more)
      fetch_next(b, width, shards + (s + 1) * width);
    ok[s] = gfs_check_part(b->codec, hint_of(b), b->len, shards + s * width);
  }
}

/* Complete a check of empty stripes. False: the stripes are not empty. */
static bool check_empty(size_t len, size_t count, bool *ok) {
  for (size_t s = 0; s < count && len == 0; s++)
    ok[s] = true;
  return len == 0 || count == 0;
}

gfsmith_status gfsmith_check_stripes(const gfsmith_codec *codec, size_t len, size_t count,
                                     const uint8_t *const *shards, bool *ok) {
  if (codec == NULL || (count > 0 && ok == NULL))
    return GFSMITH_EINVAL;
  if (check_empty(len, count, ok))
    return GFSMITH_OK;
  unsigned width = codec->k + codec->m;
  if (!gfs_all_given(shards, count * width) || !gfs_length_valid(codec, len))
    return GFSMITH_EINVAL;
  batch b = batch_of(codec, len, count, width);
  check_block(&b, count, false, shards, ok);
  return GFSMITH_OK;
}

gfsmith_status gfsmith_check_strided(const gfsmith_codec *codec, size_t len, size_t count,
                                     const uint8_t *shards, gfsmith_stride stride, bool *ok) {
  if (codec == NULL || (count > 0 && ok == NULL))
    return GFSMITH_EINVAL;
  if (check_empty(len, count, ok))
    return GFSMITH_OK;
  if (shards == NULL || !gfs_length_valid(codec, len))
    return GFSMITH_EINVAL;
  const uint8_t *pointers[BLOCK_POINTERS];
  unsigned width = codec->k + codec->m;
  batch b = batch_of(codec, len, count, width);
  size_t most = block_stripes(width);
  gfs_stripes s;
  for (size_t done = 0; done < count; done += s.count) {
    s = block_of(done, count, most, pointers, NULL);
    place_read(pointers, shards, stride, done, s.count + s.more, width);
    check_block(&b, s.count, s.more, pointers, ok + done);
  }
  return GFSMITH_OK;
}

gfsmith_status gfsmith_prefetch(const gfsmith_codec *codec, size_t len,
                                const uint8_t *const *data) {
  if (codec == NULL || (len > 0 && data == NULL))
    return GFSMITH_EINVAL;
  if (len > 0)
    fetch_shards(len, codec->k, data);
  return GFSMITH_OK;
}
