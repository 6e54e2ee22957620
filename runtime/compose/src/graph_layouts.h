/* The layouts: the computations and transfers of each rank in each scheme. */
#ifndef GFC_GRAPH_LAYOUTS_H
#define GFC_GRAPH_LAYOUTS_H

#include "graph_build.h"

/* The encoding or repair to lay out. An encoding does not read the members after `source`. */
typedef struct gfc_layout_job {
  gfc_builder *builder;
  unsigned k, m;
  const uint8_t *parity;  /* m x k */
  const uint16_t *holder; /* rank of each shard */
  uint16_t source;
  unsigned reads, targets;
  const uint8_t *read;
  const uint8_t *target;
  const uint8_t *matrix; /* targets x reads */
  const uint16_t *sink;  /* rank that gets each rebuilt shard */
  gfc_sum *sum;          /* room for k + m + 1 */
} gfc_layout_job;

typedef void gfc_layout_function(gfc_layout_job *job);

typedef struct gfc_layout {
  const char *name;
  gfc_layout_function *encode; /* NULL: the scheme repairs only */
  gfc_layout_function *decode;
} gfc_layout;

/* The layout of a scheme, or NULL. */
const gfc_layout *gfc_layout_find(const char *scheme);

#endif
