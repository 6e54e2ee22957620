#include "layout.h"

#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPAIRS_MAX = 512 }; /* number of graphs in the cache; when it is full, all are dropped */

typedef struct repair {
  layout_rebuild rebuild; /* the key */
  gfsmith_graph *graph;
  UT_hash_handle hh;
} repair;

struct layout {
  layout_options options;
  gfsmith_codec *codec;
  gfsmith_graph *encode[LAYOUT_SHARDS_MAX];
  repair *repairs;
};

bool layout_create(layout **out, const layout_options *options, char *reason) {
  *out = NULL;
  if (!layout_valid(options, reason))
    return false;
  layout *l = calloc(1, sizeof *l);
  if (l == NULL) {
    snprintf(reason, GFSMITH_REASON_MAX, "out of memory");
    return false;
  }
  l->options = *options;
  gfsmith_status status =
      options->l > 0 ? gfsmith_codec_create_lrc(&l->codec, options->k, options->l, options->r)
                     : gfsmith_codec_create(&l->codec, "cauchy", options->k, options->m);
  if (status != GFSMITH_OK) {
    snprintf(reason, GFSMITH_REASON_MAX, "%s", gfsmith_strerror(status));
    free(l);
    return false;
  }
  *out = l;
  return true;
}

static void forget_repairs(layout *l) {
  repair *each, *next;
  HASH_ITER(hh, l->repairs, each, next) {
    HASH_DEL(l->repairs, each);
    gfsmith_graph_destroy(each->graph);
    free(each);
  }
}

static void forget_graphs(layout *l) {
  forget_repairs(l);
  for (unsigned i = 0; i < layout_shards(l); i++) {
    gfsmith_graph_destroy(l->encode[i]);
    l->encode[i] = NULL;
  }
}

void layout_destroy(layout *l) {
  if (l == NULL)
    return;
  forget_graphs(l);
  gfsmith_codec_destroy(l->codec);
  free(l);
}

bool layout_spoil(layout *l) {
  gfsmith_codec *other;
  if (gfsmith_codec_create(&other, "backblaze", l->options.k, l->options.m) != GFSMITH_OK)
    return false;
  forget_graphs(l);
  gfsmith_codec_destroy(l->codec);
  l->codec = other;
  return true;
}

const layout_options *layout_get(const layout *l) { return &l->options; }

unsigned layout_shards(const layout *l) { return l->options.k + l->options.m; }

uint16_t layout_rank(const layout *l, unsigned turn, unsigned shard) {
  return (uint16_t)(1 + (shard + turn) % layout_shards(l));
}

unsigned layout_shard(const layout *l, unsigned turn, uint16_t rank) {
  unsigned n = layout_shards(l);
  return (rank - 1u + n - turn % n) % n;
}

uint64_t layout_ranks(const layout *l, unsigned turn, uint64_t shards) {
  uint64_t ranks = 0;
  for (unsigned i = 0; i < layout_shards(l); i++)
    if (shards >> i & 1)
      ranks |= UINT64_C(1) << layout_rank(l, turn, i);
  return ranks;
}

uint64_t layout_at(const layout *l, unsigned turn, uint64_t ranks) {
  uint64_t shards = 0;
  for (unsigned i = 0; i < layout_shards(l); i++)
    if (ranks >> layout_rank(l, turn, i) & 1)
      shards |= UINT64_C(1) << i;
  return shards;
}

uint64_t layout_replicas(const layout *l, unsigned turn) {
  uint64_t parity = (UINT64_C(1) << layout_shards(l)) - (UINT64_C(1) << l->options.k);
  return layout_ranks(l, turn, parity | 1);
}

/* A request for gfsmith_graph_create, with the arrays that it points to. */
typedef struct wish {
  gfsmith_graph_request request;
  uint16_t holder[LAYOUT_SHARDS_MAX], sink[LAYOUT_SHARDS_MAX];
  bool present[LAYOUT_SHARDS_MAX], wanted[LAYOUT_SHARDS_MAX];
} wish;

static void begin_wish(wish *w, const layout *l, const char *scheme, unsigned turn) {
  memset(w, 0, sizeof *w);
  for (unsigned i = 0; i < layout_shards(l); i++)
    w->holder[i] = layout_rank(l, turn, i);
  w->request.scheme = scheme;
  w->request.codec = l->codec;
  w->request.k = l->options.k;
  w->request.m = l->options.m;
  w->request.holder = w->holder;
  w->request.source = LAYOUT_AGENT;
}

const gfsmith_graph *layout_encode(layout *l, unsigned turn, char *reason) {
  gfsmith_graph **graph = &l->encode[turn % layout_shards(l)];
  const char *scheme = l->options.scheme;
  wish w;
  if (*graph != NULL)
    return *graph;
  /* ppr and ecpipe are schemes for repair; as in the paper, they encode by rs */
  if (strcmp(scheme, "ppr") == 0 || strcmp(scheme, "ecpipe") == 0)
    scheme = "rs";
  begin_wish(&w, l, scheme, turn);
  if (gfsmith_graph_create(graph, &w.request, reason) != GFSMITH_OK)
    *graph = NULL;
  return *graph;
}

/* Keep the graph, which the layout owns from now on; NULL: no memory. */
static repair *keep(layout *l, const layout_rebuild *key, gfsmith_graph *graph) {
  repair *kept = calloc(1, sizeof *kept);
  if (kept == NULL)
    return NULL;
  memcpy(&kept->rebuild, key, sizeof *key);
  kept->graph = graph;
  HASH_ADD(hh, l->repairs, rebuild, sizeof kept->rebuild, kept);
  if (TABLE_HAS(kept, hh))
    return kept;
  free(kept);
  return NULL;
}

bool layout_gathers(const layout *l, const layout_rebuild *rebuild) {
  const char *scheme = l->options.scheme;
  return rebuild->gathers || strcmp(scheme, "rs") == 0 || strcmp(scheme, "lrc") == 0;
}

static int build(layout *l, const layout_rebuild *rebuild, gfsmith_graph **graph, char *reason) {
  wish w;
  bool other = rebuild->gathers && strcmp(l->options.scheme, "lrc") != 0;
  begin_wish(&w, l, other ? "rs" : l->options.scheme, rebuild->turn);
  for (unsigned i = 0; i < layout_shards(l); i++) {
    w.present[i] = rebuild->present >> i & 1;
    w.wanted[i] = rebuild->wanted >> i & 1;
    w.sink[i] = rebuild->sink;
    if (w.wanted[i])
      w.holder[i] = rebuild->sink; /* a node that is down cannot compute sums for others */
  }
  w.request.present = w.present;
  w.request.wanted = w.wanted;
  w.request.sink = w.sink;
  return gfsmith_graph_create(graph, &w.request, reason);
}

int layout_repair(layout *l, const layout_rebuild *rebuild, const gfsmith_graph **graph,
                  char *reason) {
  repair *known;
  gfsmith_graph *made = NULL;
  layout_rebuild key;
  *graph = NULL;
  memset(&key, 0, sizeof key); /* the padding is part of the key */
  key.present = rebuild->present;
  key.wanted = rebuild->wanted;
  key.turn = rebuild->turn;
  key.sink = rebuild->sink;
  key.gathers = rebuild->gathers;
  HASH_FIND(hh, l->repairs, &key, sizeof key, known);
  if (known == NULL) {
    if (HASH_COUNT(l->repairs) >= REPAIRS_MAX)
      forget_repairs(l);
    int status = build(l, &key, &made, reason);
    if (status != GFSMITH_OK)
      return status;
    known = keep(l, &key, made);
  }
  if (known == NULL) {
    gfsmith_graph_destroy(made);
    snprintf(reason, GFSMITH_REASON_MAX, "out of memory");
    return GFSMITH_ENOMEM;
  }
  *graph = known->graph;
  return GFSMITH_OK;
}
