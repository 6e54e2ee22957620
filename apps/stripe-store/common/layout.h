/* The code, the placement of a stripe's shards, and the graphs that encode and rebuild them.
 *
 * A stripe with turn t has shard i at rank 1 + (i + t) % (k + m), so that parity is spread over all
 * chunk servers. Rank 0 is the agent. Sets of shards and of ranks are bit masks. */
#ifndef STORE_LAYOUT_H
#define STORE_LAYOUT_H

#include "gfsmith_compose.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  LAYOUT_SHARDS_MAX = 63, /* a rank is a bit of 64 */
  LAYOUT_TEXT = 96,
  LAYOUT_AGENT = 0 /* rank of the agent */
};

typedef struct layout layout;

/* The parameters of a layout. */
typedef struct layout_options {
  char scheme[16]; /* rs, lrc, ppr, ecpipe, triec */
  unsigned k, m;   /* with lrc, m = l + r */
  unsigned l, r;   /* lrc: groups, global parities; otherwise 0 */
  unsigned slice;  /* bytes of a slice; 0: whole chunks */
} layout_options;

/* Scheme, k, m, l, r, slice, for example "rs 3 2 0 0 0": the form in which a layout is sent and
 * stored. */
void layout_text(const layout_options *options, char text[LAYOUT_TEXT]);
bool layout_parse(layout_options *options, const char *text);
/* The parameters that must not change while values are stored: "cauchy 3 2" or "lrc 4 2 2". */
void layout_code(const layout_options *options, char text[LAYOUT_TEXT]);

/* False: invalid, with the reason (GFSMITH_REASON_MAX bytes). */
bool layout_valid(const layout_options *options, char *reason);
/* False: invalid or out of memory, with the reason. */
bool layout_create(layout **out, const layout_options *options, char *reason);
void layout_destroy(layout *l);
const layout_options *layout_get(const layout *l);
unsigned layout_shards(const layout *l); /* k + m */
/* Change the matrix; only for tests. */
bool layout_spoil(layout *l);

uint16_t layout_rank(const layout *l, unsigned turn, unsigned shard);
unsigned layout_shard(const layout *l, unsigned turn, uint16_t rank);
/* The ranks of a set of shards, and the shards of a set of ranks. */
uint64_t layout_ranks(const layout *l, unsigned turn, uint64_t shards);
uint64_t layout_at(const layout *l, unsigned turn, uint64_t ranks);
/* The m + 1 ranks that store the record of a stripe: those of its parity and of its first shard. */
uint64_t layout_replicas(const layout *l, unsigned turn);

/* The graph that encodes at this turn; the layout owns it. NULL: failed, with the reason. */
const gfsmith_graph *layout_encode(layout *l, unsigned turn, char *reason);

/* A rebuild: the present shards, the wanted shards, and the rank `sink` that receives them. */
typedef struct layout_rebuild {
  uint64_t present, wanted;
  uint16_t turn, sink;
  bool gathers; /* with every scheme, the shards are sent to the sink directly */
} layout_rebuild;
/* Are whole shards sent to the sink, which has them afterwards? */
bool layout_gathers(const layout *l, const layout_rebuild *rebuild);
/* The graph of a rebuild, valid until the next call. GFSMITH_ENOMEM: no memory; another status:
 * this loss cannot be repaired. Then *graph is NULL, and there is a reason. */
int layout_repair(layout *l, const layout_rebuild *rebuild, const gfsmith_graph **graph,
                  char *reason);

#endif
