/* map.h: a linear map over GF(2^8) with its kernels and tables; used for encoding and repair.
 *
 *     out[i] = sum over j of matrix[i][j] * in[j]
 *
 * The outputs are split into passes; one kernel call computes the outputs of a pass. map.c creates
 * maps, apply.c runs them. */
#ifndef GFS_MAP_H
#define GFS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "adaptive.h"
#include "dispatch.h"
#include "field.h"
#include "gfsmith.h"
#include "probe.h"

/* The most outputs of a pass with tables. Eight accumulators leave registers for the source and the
 * tables on every instruction set. A longer pass would save little, since at eight outputs the
 * arithmetic takes more time than reading the sources. */
enum { GFS_PASS_MAX = 8 };

typedef struct gfs_pass {
  gfsmith_kernel *kernel[GFS_PATHS]; /* of dot passes */
  gfs_traits traits;                 /* of kernel[GFS_PATH_bulk] */
  unsigned near; /* bytes ahead that kernel[GFS_PATH_distant] prefetches; 0: none, or further */
  bool delayed;  /* gfs_traits_delay of the kernels for shards in memory, if used */
  /* Of dot passes with tables, instead of a kernel for any number of sources in memory: one for
   * exactly `wide` sources, the last ones with coefficients 0; wide is 0 if there is none. */
  gfsmith_kernel *wider;
  unsigned wide;
  gfsmith_kernel *pipelined; /* of the first dot pass: gfs_pipelined_row, for `wide` sources if
                                there are so many; NULL: none */
  const uint8_t *tables;     /* entry of input j, output i of the pass at (j * outputs + i) * entry;
                                NULL for kernels of known matrices */
  const struct gfs_known_matrix *known; /* of a dot pass; NULL: the matrix is not known */
  unsigned first;                       /* its first output */
  unsigned outputs;
} gfs_pass;

/* Immutable after creation and attachment; one block of memory, including the tables. */
typedef struct gfs_map {
  gfs_adaptive_map *adaptive; /* NULL: not attached to a coordinator */
  size_t bytes;               /* of the block */
  size_t entry;               /* bytes of a coefficient's table entry */
  gfs_format format;          /* of the tables */
  unsigned inputs;
  unsigned outputs;
  unsigned widest; /* the greatest `wide` of a pass */
  unsigned dots;   /* passes over all inputs: pass[0 .. dots) */
  unsigned mads;   /* the same outputs in passes that all have tables (dot passes for known matrices
                      have none) */
  /* pass[0 .. dots), then pass[dots .. dots + mads), whose kernels are in adders.c */
  gfs_pass pass[];
} gfs_map;

/* Make the map of a matrix of `outputs` rows of `inputs` elements, row-major; outputs >= 1, at most
 * GFSMITH_MAX_SHARDS inputs and outputs together. Errors: GFSMITH_ENOMEM, GFSMITH_EUNSUPPORTED (no
 * kernels for this number of outputs). */
gfsmith_status gfs_map_create(gfs_map **out, const gfs_isa *isa, const gfs_field *field,
                              unsigned inputs, unsigned outputs, const uint8_t *matrix);

/* Attach a map that is not attached, before threads share it; does nothing if the coordinator is
 * NULL. Errors: GFSMITH_ENOMEM; the map is not attached then. */
gfsmith_status gfs_map_attach(gfs_map *map, const gfs_isa *isa, gfs_coordinator *coordinator);

/* Detach and free a map. NULL is allowed. */
void gfs_map_destroy(gfs_map *map);

/* Is there a kernel with tables for this number of outputs? */
typedef bool gfs_has_kernel(const void *of, unsigned outputs);

/* The length of the next pass with tables when `left` outputs remain: as balanced as the kernels
 * allow (ten outputs make 5 + 5, not 8 + 2); 0 if there is no kernel. */
unsigned gfs_map_balanced(gfs_has_kernel *has, const void *of, unsigned left);

/* gfs_map_apply in pieces that suit the path and the number of passes. */
void gfs_map_apply_pieces(const gfs_map *map, gfs_path path, size_t len, const uint8_t *const *src,
                          uint8_t *const *dst);

/* The same for bytes start .. len only, without prefetching. */
void gfs_map_apply_rest(const gfs_map *map, gfs_path path, size_t start, size_t len,
                        const uint8_t *const *src, uint8_t *const *dst);

/* dst[i] = sum over j of matrix[i][j] * src[j], on len bytes. Inline for short calls: with 64
 * bytes, the code before the kernel takes a third of the time. */
static inline void gfs_map_apply(const gfs_map *map, gfsmith_hint hint, size_t len,
                                 const uint8_t *const *src, uint8_t *const *dst) {
  unsigned shards = map->inputs + map->outputs;
  gfs_path path = gfs_path_of(hint, shards, len);
  if (gfs_path_is_cached(path) && map->dots == 1)
    map->pass->kernel[path](len, map->inputs, map->pass->tables, src, dst);
  else if (gfs_path_is_cached(path) || map->adaptive == NULL ||
           gfs_adaptive_is_quiet(map->adaptive, len)) {
    if (hint == GFSMITH_HINT_AUTO)
      path = gfs_path_probed(path, shards, len, src, map->inputs);
    gfs_map_apply_pieces(map, path, len, src, dst);
  } else
    map->adaptive->apply(map->adaptive, path, len, src, dst);
}

/* Stripes with the same map, one after the other in the arrays of pointers. */
typedef struct gfs_stripes {
  size_t count;
  const uint8_t *const *src; /* count * inputs pointers */
  uint8_t *const *dst;       /* count * outputs pointers */
  bool more; /* the `inputs` pointers behind those of src belong to a stripe that follows */
} gfs_stripes;

/* gfs_map_apply for each stripe, all with this path. If the shards are in memory and two stripes
 * fit in a core's own cache, each stripe prefetches sources of the next one. */
void gfs_map_apply_stripes(const gfs_map *map, gfs_path path, size_t len, gfs_stripes stripes);

/* The same for stripes in memory of which two fit in a core's own cache, without a coordinator:
 * each prefetches all sources of the next one. len > 0. */
void gfs_map_apply_short_stripes(const gfs_map *map, gfs_path path, size_t len,
                                 const gfs_stripes *stripes);

/* The number of bytes of each shard to work on at a time so that `shards` of them stay in cache
 * while several passes go over them: a multiple of 64. */
size_t gfs_map_chunk(unsigned shards);

#endif
