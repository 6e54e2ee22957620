/* The code, where the shards of a stripe are, and the graphs that encode and rebuild them.
 *
 * A stripe with turn t has shard i at rank 1 + (i + t) % (k + m), so that parity is spread over all
 * chunk servers. Rank 0 is the agent. Sets of shards and of ranks are masks: bit i. */
#ifndef STORE_LAYOUT_H
#define STORE_LAYOUT_H

#include "gfsmith_compose.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  LAYOUT_SHARDS_MAX = 63, /* a rank has a bit in 64 */
  LAYOUT_TEXT = 96,
  LAYOUT_AGENT = 0 /* its rank */
};

typedef struct layout layout;

/* What one is made of. */
typedef struct layout_options {
  char scheme[16]; /* rs, lrc, ppr, ecpipe, triec */
  unsigned k, m;   /* with lrc, m = l + r */
  unsigned l, r;   /* lrc: groups, global parities; otherwise 0 */
  unsigned slice;  /* bytes that go through a graph together, 0: whole chunks */
} layout_options;

/* "rs 3 2 0 0 0": scheme, k, m, l, r, slice; a layout is sent and remembered so. */
void layout_text(const layout_options *options, char text[LAYOUT_TEXT]);
bool layout_parse(layout_options *options, const char *text);
/* What must not change while data are there: "cauchy 3 2" or "lrc 4 2 2". */
void layout_code(const layout_options *options, char text[LAYOUT_TEXT]);

/* False: refused, with the reason (GFSMITH_REASON_MAX bytes). */
bool layout_create(layout **out, const layout_options *options, char *reason);
void layout_destroy(layout *l);
const layout_options *layout_get(const layout *l);
unsigned layout_shards(const layout *l); /* k + m */
/* Another matrix from now on: only tests call it. */
bool layout_spoil(layout *l);

uint16_t layout_rank(const layout *l, unsigned turn, unsigned shard);
unsigned layout_shard(const layout *l, unsigned turn, uint16_t rank);
/* Ranks of a set of shards, and the shards of a set of ranks. */
uint64_t layout_ranks(const layout *l, unsigned turn, uint64_t shards);
uint64_t layout_at(const layout *l, unsigned turn, uint64_t ranks);
/* The m + 1 ranks that keep the record of a stripe: those of its parity and of its first shard. */
uint64_t layout_replicas(const layout *l, unsigned turn);

/* The graph that encodes at this turn; it belongs to the layout. NULL: reason. */
const gfsmith_graph *layout_encode(layout *l, unsigned turn, char *reason);

/* A rebuild: from shards that are present, those wanted, to the rank `sink`. */
typedef struct layout_rebuild {
  uint64_t present, wanted;
  uint16_t turn, sink;
} layout_rebuild;
/* Valid until the next call. NULL: this loss cannot be repaired, or reason. */
const gfsmith_graph *layout_repair(layout *l, const layout_rebuild *rebuild, char *reason);

#endif
