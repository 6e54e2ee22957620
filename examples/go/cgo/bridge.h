/* bridge.h: how Go memory gets to gfsmith.
 *
 * cgo lets C have pointers to Go memory for the time of a call if they are arguments, and not if
 * they lie in Go memory themselves, as the array of pointers that gfsmith_encode wants would. So
 * pointers come as arguments, up to GFS_GO_FEW, and the array is made here. */
#ifndef GFS_GO_BRIDGE_H
#define GFS_GO_BRIDGE_H

#include "gfsmith.h"

typedef enum gfs_go_operation {
  GFS_GO_ENCODE,  /* k data, m parities */
  GFS_GO_ADD,     /* a data shard, m parities */
  GFS_GO_CHANGE,  /* a data shard before and after, m parities */
  GFS_GO_VERIFY,  /* k data, m parities */
  GFS_GO_REBUILD, /* k data, m parities, NULL if missing and not wanted */
} gfs_go_operation;

/* What is not GFSMITH_OK and no error: the parities are others. */
#define GFS_GO_DIFFERENT 1

/* One call, but for the shards. index: the data shard of ADD and CHANGE. present, wanted: for
 * REBUILD. */
typedef struct gfs_go_call {
  gfs_go_operation operation;
  const gfsmith_codec *codec;
  size_t len;
  unsigned k, m, index;
} gfs_go_call;

/* Both return a gfsmith_status or GFS_GO_DIFFERENT. */
int gfs_go_many(gfs_go_call call, const bool *present, const bool *wanted, uint8_t *const *shards);

/* The same, shards being count pieces of len bytes each, one after the other. */
int gfs_go_flat(gfs_go_call call, const bool *present, const bool *wanted, unsigned count,
                uint8_t *shards);

#define GFS_GO_FEW 32

int gfs_go_few(gfs_go_call call, const bool *present, const bool *wanted, uint8_t *p0, uint8_t *p1,
               uint8_t *p2, uint8_t *p3, uint8_t *p4, uint8_t *p5, uint8_t *p6, uint8_t *p7,
               uint8_t *p8, uint8_t *p9, uint8_t *p10, uint8_t *p11, uint8_t *p12, uint8_t *p13,
               uint8_t *p14, uint8_t *p15, uint8_t *p16, uint8_t *p17, uint8_t *p18, uint8_t *p19,
               uint8_t *p20, uint8_t *p21, uint8_t *p22, uint8_t *p23, uint8_t *p24, uint8_t *p25,
               uint8_t *p26, uint8_t *p27, uint8_t *p28, uint8_t *p29, uint8_t *p30, uint8_t *p31);

#endif
