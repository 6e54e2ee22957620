/* The schemes, and their papers.
 *
 * rs, lrc: Encode: the source computes all parities and sends every shard to its holder. Decode:
 * the holders of the shards that the plan reads send them to the sink, which computes. The two
 * schemes differ in their codes: the plan of a local code reads one group.
 *
 * ppr (S. Mitra et al., "Partial-parallel-repair (PPR)", EuroSys 2016): Decode: the sink and the n
 * helpers, in the order of their shards, are the places 0 .. n of a binomial tree. In step d = 1,
 * 2, 4, ... each place i with i mod 2d = d adds the received sum to its own product and sends the
 * sum to place i - d. That takes ceil(log2(n + 1)) steps, and in no step does a node send or
 * receive twice.
 *
 * ecpipe (R. Li et al., "Repair pipelining for erasure-coded storage", USENIX ATC 2017): Decode:
 * the helpers are a chain in the order of their shards. Each adds its product to the sum that it
 * receives, and the last sends to the sink. The scheme pays off with slices, which are given when
 * the graph is posted: the graph does not contain them.
 *
 * triec (H. Shi, X. Lu, "TriEC: Tripartite graph based erasure coding NIC offload", SC 2019, as
 * INEC describes it in figures 1, 5 and 13, sections II-B and IV-A): Encode: the source sends data
 * shards to their holders, each of them computes its product for every parity, and the holders of
 * the parities add the products. Decode: the helpers send their products for a lost shard to its
 * holder, which adds them, keeps the shard (in-band recovery), and sends it on to the sink if that
 * is another node.
 *
 * A rank may have several parts: it holds several shards, or the sink holds some itself. Transfers
 * from a rank to itself are then omitted, and the rest is one vertex. With several lost shards a
 * helper's products for all of them take the same path, and separate only before different sinks.
 * INEC's figures show structures, mostly for one lost shard; the order of helpers, the places in
 * the tree of PPR and several lost shards are our interpretation. */
#include "graph_layouts.h"

#include <string.h>

/* The ranks that have at least one of these shards, each once, in the order of the shards. */
static unsigned ranks_of(const gfc_layout_job *job, const uint8_t *shards, unsigned count,
                         uint16_t *ranks) {
  unsigned found = 0;
  for (unsigned n = 0; n < count; n++) {
    uint16_t rank = job->holder[shards ? shards[n] : n];
    unsigned at = 0;
    while (at < found && ranks[at] != rank)
      at++;
    if (at == found)
      ranks[found++] = rank;
  }
  return found;
}

/* The contribution of the shards of a rank to a target. */
static void part(const gfc_layout_job *job, uint16_t rank, unsigned row, gfc_sum *into) {
  into->count = 0;
  for (unsigned n = 0; n < job->reads; n++)
    if (job->holder[job->read[n]] == rank && job->matrix[row * job->reads + n])
      gfc_sum_add(job->builder, into, job->read[n], job->matrix[row * job->reads + n]);
}

/* A shard of the code as a sum of data shards. */
static void shard_row(const gfc_layout_job *job, unsigned shard, gfc_sum *into) {
  into->count = 0;
  for (unsigned j = 0; j < job->k; j++) {
    uint8_t factor = shard < job->k ? shard == j : job->parity[(shard - job->k) * job->k + j];
    if (factor)
      gfc_sum_add(job->builder, into, j, factor);
  }
}

static void gather_encode(gfc_layout_job *job) {
  gfc_sum *row = job->sum, *into = job->sum + 1;
  for (unsigned shard = 0; shard < job->k + job->m; shard++) {
    into->count = 0;
    shard_row(job, shard, row);
    gfc_bring(job->builder, job->source, job->holder[shard], row, 1, into);
    gfc_keep_shard(job->builder, job->holder[shard], shard, into);
  }
}

static void gather_decode(gfc_layout_job *job) {
  gfc_sum *read = job->sum, *into = job->sum + 1;
  for (unsigned row = 0; row < job->targets; row++) {
    uint16_t sink = job->sink[job->target[row]];
    into->count = 0;
    for (unsigned n = 0; n < job->reads; n++) {
      uint8_t factor = job->matrix[row * job->reads + n];
      if (factor == 0)
        continue;
      read->count = 1;
      read->term[0] = (gfc_term){job->read[n], 1};
      gfc_bring(job->builder, job->holder[job->read[n]], sink, read, factor, into);
    }
    gfc_keep_shard(job->builder, sink, job->target[row], into);
  }
}

/* Compute parity i at its holder. job->sum[0 .. k - 1] are the data shards at their holders. */
static void triec_parity(gfc_layout_job *job, unsigned i, const uint16_t *ranks, unsigned count) {
  gfc_sum *into = job->sum + job->k, *piece = into + 1;
  uint16_t holder = job->holder[job->k + i];
  into->count = 0;
  if (holder == job->source) { /* it has all data, and its parts would wait for each other */
    shard_row(job, job->k + i, into);
    count = 0;
  }
  for (unsigned r = 0; r < count; r++) {
    piece->count = 0;
    for (unsigned j = 0; j < job->k; j++)
      if (job->holder[j] == ranks[r] && job->parity[i * job->k + j])
        gfc_sum_add_sum(job->builder, piece, job->sum + j, job->parity[i * job->k + j]);
    gfc_bring(job->builder, ranks[r], holder, piece, 1, into);
  }
  gfc_keep_shard(job->builder, holder, job->k + i, into);
}

static void triec_encode(gfc_layout_job *job) {
  uint16_t ranks[GFSMITH_MAX_SHARDS];
  unsigned count = ranks_of(job, NULL, job->k, ranks);
  gfc_sum *own = job->sum + job->k;
  for (unsigned j = 0; j < job->k; j++) {
    job->sum[j].count = 0;
    shard_row(job, j, own);
    gfc_bring(job->builder, job->source, job->holder[j], own, 1, job->sum + j);
    gfc_keep_shard(job->builder, job->holder[j], j, job->sum + j);
  }
  for (unsigned i = 0; i < job->m; i++)
    triec_parity(job, i, ranks, count);
}

static void triec_decode(gfc_layout_job *job) {
  uint16_t helpers[GFSMITH_MAX_SHARDS];
  unsigned count = ranks_of(job, job->read, job->reads, helpers);
  gfc_sum *piece = job->sum, *into = job->sum + 1;
  for (unsigned row = 0; row < job->targets; row++) {
    unsigned target = job->target[row];
    uint16_t holder = job->holder[target], sink = job->sink[target];
    into->count = 0;
    for (unsigned h = 0; h < count; h++) {
      part(job, helpers[h], row, piece);
      gfc_bring(job->builder, helpers[h], holder, piece, 1, into);
    }
    gfc_keep_shard(job->builder, holder, target, into);
    if (sink == holder)
      continue;
    piece->count = 0;
    gfc_bring(job->builder, holder, sink, into, 1, piece);
    gfc_keep_shard(job->builder, sink, target, piece);
  }
}

/* The sink, then its helpers. */
static unsigned places_of(const gfc_layout_job *job, uint16_t sink, uint16_t *places) {
  uint16_t helpers[GFSMITH_MAX_SHARDS];
  unsigned count = ranks_of(job, job->read, job->reads, helpers), found = 1;
  places[0] = sink;
  for (unsigned h = 0; h < count; h++)
    if (helpers[h] != sink)
      places[found++] = helpers[h];
  return found;
}

static void ppr_decode(gfc_layout_job *job) {
  uint16_t places[GFSMITH_MAX_SHARDS + 1];
  for (unsigned row = 0; row < job->targets; row++) {
    uint16_t sink = job->sink[job->target[row]];
    unsigned count = places_of(job, sink, places);
    for (unsigned i = 0; i < count; i++)
      part(job, places[i], row, job->sum + i);
    for (unsigned step = 1; step < count; step *= 2)
      for (unsigned i = step; i < count; i += 2 * step)
        gfc_bring(job->builder, places[i], places[i - step], job->sum + i, 1,
                  job->sum + (i - step));
    gfc_keep_shard(job->builder, sink, job->target[row], job->sum);
  }
}

static void ecpipe_decode(gfc_layout_job *job) {
  uint16_t places[GFSMITH_MAX_SHARDS + 1];
  for (unsigned row = 0; row < job->targets; row++) {
    uint16_t sink = job->sink[job->target[row]], before = sink;
    unsigned count = places_of(job, sink, places);
    gfc_sum *total = job->sum, *next = job->sum + 1;
    total->count = 0;
    for (unsigned i = 1; i <= count; i++) {
      uint16_t rank = places[i % count]; /* the sink comes last */
      part(job, rank, row, next);
      if (next->count == 0 && i < count)
        continue;
      gfc_bring(job->builder, before, rank, total, 1, next);
      gfc_sum *swap = total;
      total = next;
      next = swap;
      before = rank;
    }
    gfc_keep_shard(job->builder, sink, job->target[row], total);
  }
}

const gfc_layout *gfc_layout_find(const char *scheme) {
  static const gfc_layout layouts[] = {
      {"rs", gather_encode, gather_decode},
      {"lrc", gather_encode, gather_decode},
      {"ppr", NULL, ppr_decode},
      {"ecpipe", NULL, ecpipe_decode},
      {"triec", triec_encode, triec_decode},
  };
  for (size_t n = 0; scheme != NULL && n < sizeof layouts / sizeof *layouts; n++)
    if (strcmp(layouts[n].name, scheme) == 0)
      return layouts + n;
  return NULL;
}
