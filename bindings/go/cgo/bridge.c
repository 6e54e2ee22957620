#include "bridge.h"

#include <stdlib.h>

enum { PIECE = 8192 };

/* Compute the difference of old and new contents piece by piece, so that it stays in cache. */
static int change(const gfs_go_call *call, uint8_t *const *shards) {
  uint8_t delta[PIECE];
  const uint8_t *old = shards[0], *new = shards[1];
  uint8_t *parity[GFSMITH_MAX_SHARDS];
  int status = GFSMITH_OK;
  for (size_t at = 0; at < call->len && status == GFSMITH_OK; at += PIECE) {
    size_t size = call->len - at < PIECE ? call->len - at : PIECE;
    for (size_t b = 0; b < size; b++)
      delta[b] = old[at + b] ^ new[at + b];
    for (unsigned i = 0; i < call->m; i++)
      parity[i] = shards[2 + i] + at;
    status = gfsmith_update(call->codec, size, call->index, delta, parity);
  }
  return status;
}

/* A status, or GFS_GO_DIFFERENT if the parities differ. */
static int compared(gfsmith_status status, bool same) {
  return status == GFSMITH_OK && !same ? GFS_GO_DIFFERENT : (int)status;
}

int gfs_go_many(gfs_go_call call, const bool *present, const bool *wanted, uint8_t *const *shards) {
  const uint8_t *const *sources = (const uint8_t *const *)shards;
  gfs_go_sums *sums = call.sums;
  switch (call.operation) {
  case GFS_GO_ENCODE:
    return gfsmith_encode(call.codec, call.len, sources, shards + call.k);
  case GFS_GO_ADD:
    return gfsmith_update(call.codec, call.len, call.index, shards[0], shards + 1);
  case GFS_GO_CHANGE:
    return change(&call, shards);
  case GFS_GO_VERIFY: {
    bool same = false;
    gfsmith_status status = gfsmith_check(call.codec, call.len, sources, &same);
    return compared(status, same);
  }
  case GFS_GO_REBUILD:
    return gfsmith_reconstruct(call.codec, call.len, shards, present, wanted);
  case GFS_GO_CORRECT:
    return gfsmith_correct(call.codec, call.len, shards, present, call.counts, NULL);
  case GFS_GO_ENCODE_SUMS:
    return gfsmith_encode_checksums(call.codec, sums->kind, call.len, sources, shards + call.k,
                                    sums->states);
  case GFS_GO_VERIFY_SUMS: {
    bool same = false;
    gfsmith_status status =
        gfsmith_check_checksums(call.codec, sums->kind, call.len, sources, sums->states, &same);
    return compared(status, same);
  }
  case GFS_GO_REBUILD_SUMS:
    return gfsmith_reconstruct_checksums(call.codec, sums->kind, call.len, shards, present, wanted,
                                         sums->states, sums->compared ? sums->expected : NULL,
                                         sums->wrong);
  case GFS_GO_WIDE_ENCODE:
    return gfsmith_wide_encode(call.wide, call.len, sources, shards + call.k);
  case GFS_GO_WIDE_REBUILD:
    return gfsmith_wide_reconstruct(call.wide, call.len, shards, present, wanted);
  }
  return GFSMITH_EINVAL;
}

int gfs_go_flat(gfs_go_call call, const bool *present, const bool *wanted, unsigned count,
                uint8_t *shards) {
  uint8_t **pointers = malloc(count * sizeof *pointers);
  if (pointers == NULL)
    return GFSMITH_ENOMEM;
  for (unsigned i = 0; i < count; i++)
    pointers[i] = shards + i * call.len;
  int status = gfs_go_many(call, present, wanted, pointers);
  free(pointers);
  return status;
}

/* The addresses of the shards of a grid, stripe after stripe; NULL without memory. */
static uint8_t **placed(uint8_t *first, gfs_go_grid grid, size_t count) {
  uint8_t **pointers = malloc(count * grid.shards * sizeof *pointers), **next = pointers;
  for (size_t s = 0; pointers != NULL && s < count; s++)
    for (unsigned i = 0; i < grid.shards; i++)
      *next++ = first + s * grid.stride.stripe + i * grid.stride.shard;
  return pointers;
}

int gfs_go_encode_sums(const gfsmith_codec *codec, gfsmith_checksum kind, size_t len, size_t count,
                       uint8_t *data, gfs_go_grid from, uint8_t *parity, gfs_go_grid to,
                       uint64_t *states) {
  uint8_t **src = placed(data, from, count), **dst = placed(parity, to, count);
  int status = GFSMITH_ENOMEM;
  if (src != NULL && dst != NULL)
    status = gfsmith_encode_stripes_checksums(codec, kind, len, count, (const uint8_t *const *)src,
                                              dst, states);
  free(dst);
  free(src);
  return status;
}

int gfs_go_wide_encode(const gfsmith_wide *wide, size_t len, size_t count, uint8_t *data,
                       gfs_go_grid from, uint8_t *parity, gfs_go_grid to) {
  uint8_t **src = placed(data, from, count), **dst = placed(parity, to, count);
  int status = GFSMITH_ENOMEM;
  if (src != NULL && dst != NULL)
    status = gfsmith_wide_encode_stripes(wide, len, count, (const uint8_t *const *)src, dst);
  free(dst);
  free(src);
  return status;
}

int gfs_go_wide_rebuild(const gfsmith_wide *wide, size_t len, size_t count, uint8_t *first,
                        gfs_go_grid all, const bool *present, const bool *wanted) {
  uint8_t **shards = placed(first, all, count);
  if (shards == NULL)
    return GFSMITH_ENOMEM;
  int status = gfsmith_wide_reconstruct_stripes(wide, len, count, shards, present, wanted);
  free(shards);
  return status;
}

int gfs_go_few(gfs_go_call call, const bool *present, const bool *wanted, uint8_t *p0, uint8_t *p1,
               uint8_t *p2, uint8_t *p3, uint8_t *p4, uint8_t *p5, uint8_t *p6, uint8_t *p7,
               uint8_t *p8, uint8_t *p9, uint8_t *p10, uint8_t *p11, uint8_t *p12, uint8_t *p13,
               uint8_t *p14, uint8_t *p15, uint8_t *p16, uint8_t *p17, uint8_t *p18, uint8_t *p19,
               uint8_t *p20, uint8_t *p21, uint8_t *p22, uint8_t *p23, uint8_t *p24, uint8_t *p25,
               uint8_t *p26, uint8_t *p27, uint8_t *p28, uint8_t *p29, uint8_t *p30, uint8_t *p31) {
  uint8_t *const shards[GFS_GO_FEW] = {p0,  p1,  p2,  p3,  p4,  p5,  p6,  p7,  p8,  p9,  p10,
                                       p11, p12, p13, p14, p15, p16, p17, p18, p19, p20, p21,
                                       p22, p23, p24, p25, p26, p27, p28, p29, p30, p31};
  return gfs_go_many(call, present, wanted, shards);
}
