/* Who computes and sends what in each scheme. */
#ifndef GFC_GRAPH_LAYOUTS_H
#define GFC_GRAPH_LAYOUTS_H

#include "graph_build.h"

/* What is laid out. With an encoding, plan and what follows are not looked at. */
typedef struct gfc_layout_job {
  gfc_builder *builder;
  unsigned k, m;
  const uint8_t *parity;  /* m x k */
  const uint16_t *holder; /* of each shard */
  uint16_t source;
  unsigned reads, targets;
  const uint8_t *read;
  const uint8_t *target;
  const uint8_t *matrix; /* targets x reads */
  const uint16_t *sink;  /* of each shard */
  gfc_sum *sum;          /* room for k + m + 1 */
} gfc_layout_job;

typedef void gfc_layout_function(gfc_layout_job *job);

typedef struct gfc_layout {
  const char *name;
  gfc_layout_function *encode; /* NULL: it repairs only */
  gfc_layout_function *decode;
} gfc_layout;

/* The layout of a scheme, or NULL. */
const gfc_layout *gfc_layout_find(const char *scheme);

#endif
