/* bridge.h: passing Go memory to gfsmith.
 *
 * During a call cgo allows C to use pointers to Go memory if they are arguments, but not if they
 * are stored in Go memory, like the array of pointers that gfsmith_encode takes. Therefore up to
 * GFS_GO_FEW pointers are passed as arguments, and C creates the array. */
#ifndef GFS_GO_BRIDGE_H
#define GFS_GO_BRIDGE_H

#include "gfsmith.h"

typedef enum gfs_go_operation {
  GFS_GO_ENCODE,       /* k data, m parities */
  GFS_GO_ADD,          /* a data shard, m parities */
  GFS_GO_CHANGE,       /* a data shard before and after, m parities */
  GFS_GO_VERIFY,       /* k data, m parities */
  GFS_GO_REBUILD,      /* k data, m parities, NULL if missing and not wanted */
  GFS_GO_CORRECT,      /* k data, m parities, NULL if missing */
  GFS_GO_ENCODE_SUMS,  /* as ENCODE, with checksums */
  GFS_GO_VERIFY_SUMS,  /* as VERIFY, with checksums */
  GFS_GO_REBUILD_SUMS, /* as REBUILD, with checksums */
  GFS_GO_WIDE_ENCODE,  /* as ENCODE, of a wide code */
  GFS_GO_WIDE_REBUILD, /* as REBUILD, of a wide code */
} gfs_go_operation;

/* A result that is neither GFSMITH_OK nor an error: the parities differ. */
#define GFS_GO_DIFFERENT 1

/* The checksums of k + m shards. compared, expected and wrong are for REBUILD_SUMS. */
typedef struct gfs_go_sums {
  gfsmith_checksum kind;
  bool compared;
  uint64_t states[GFSMITH_MAX_SHARDS], expected[GFSMITH_MAX_SHARDS];
  bool wrong[GFSMITH_MAX_SHARDS];
} gfs_go_sums;

/* The parameters of a call, without the shards. codec: NULL for WIDE_ENCODE and WIDE_REBUILD, which
 * have wide. index: the data shard of ADD and CHANGE. counts: the results of CORRECT. sums: the
 * checksums of calls with checksums. The flags present are for repairs and CORRECT, wanted for
 * repairs. */
typedef struct gfs_go_call {
  gfs_go_operation operation;
  const gfsmith_codec *codec;
  const gfsmith_wide *wide;
  size_t len;
  unsigned k, m, index;
  size_t *counts;
  gfs_go_sums *sums;
} gfs_go_call;

/* Run a call. Both functions return a gfsmith_status or GFS_GO_DIFFERENT. */
int gfs_go_many(gfs_go_call call, const bool *present, const bool *wanted, uint8_t *const *shards);

/* The same with `count` shards of len bytes each, contiguous. */
int gfs_go_flat(gfs_go_call call, const bool *present, const bool *wanted, unsigned count,
                uint8_t *shards);

/* `shards` shards of each of `count` stripes: shard i of stripe s begins at first + s *
 * stride.stripe + i * stride.shard. */
typedef struct gfs_go_grid {
  unsigned shards;
  gfsmith_stride stride;
} gfs_go_grid;

/* Calls on `count` stripes that the library has for pointers only. Their results are those of the
 * library, or GFSMITH_ENOMEM. */
int gfs_go_encode_sums(const gfsmith_codec *codec, gfsmith_checksum kind, size_t len, size_t count,
                       uint8_t *data, gfs_go_grid from, uint8_t *parity, gfs_go_grid to,
                       uint64_t *states);
int gfs_go_wide_encode(const gfsmith_wide *wide, size_t len, size_t count, uint8_t *data,
                       gfs_go_grid from, uint8_t *parity, gfs_go_grid to);
int gfs_go_wide_rebuild(const gfsmith_wide *wide, size_t len, size_t count, uint8_t *first,
                        gfs_go_grid all, const bool *present, const bool *wanted);

#define GFS_GO_FEW 32

int gfs_go_few(gfs_go_call call, const bool *present, const bool *wanted, uint8_t *p0, uint8_t *p1,
               uint8_t *p2, uint8_t *p3, uint8_t *p4, uint8_t *p5, uint8_t *p6, uint8_t *p7,
               uint8_t *p8, uint8_t *p9, uint8_t *p10, uint8_t *p11, uint8_t *p12, uint8_t *p13,
               uint8_t *p14, uint8_t *p15, uint8_t *p16, uint8_t *p17, uint8_t *p18, uint8_t *p19,
               uint8_t *p20, uint8_t *p21, uint8_t *p22, uint8_t *p23, uint8_t *p24, uint8_t *p25,
               uint8_t *p26, uint8_t *p27, uint8_t *p28, uint8_t *p29, uint8_t *p30, uint8_t *p31);

#endif
