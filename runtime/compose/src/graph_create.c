#include "graph_create.h"

#include <stdlib.h>
#include <string.h>

#include "gfsmith_plan.h"
#include "graph_layouts.h"

/* ---- the matrix of the codec ---- */

#define UNTOUCHED 0xa5u

/* Shards of one byte: as many as any codec may have, so that a codec with another shape than
 * requested cannot write out of bounds. */
typedef struct gfc_probe {
  uint8_t zero, one;
  uint8_t out[GFSMITH_MAX_SHARDS];
  const uint8_t *data[GFSMITH_MAX_SHARDS];
  uint8_t *parity[GFSMITH_MAX_SHARDS];
} gfc_probe;

/* Encode data shards that are 0 except shard j. */
static gfsmith_status encode(const gfsmith_codec *codec, gfc_probe *probe, unsigned j,
                             uint8_t value) {
  memset(probe->out, UNTOUCHED, sizeof probe->out);
  probe->one = value;
  probe->data[j] = &probe->one;
  gfsmith_status status = gfsmith_encode(codec, 1, probe->data, probe->parity);
  probe->data[j] = &probe->zero;
  return status;
}

/* Has the codec k data and m parity shards? If all data are 0 all parities become 0, and an update
 * of shard k is refused. */
static bool shaped(const gfsmith_codec *codec, gfc_probe *probe, unsigned k, unsigned m) {
  if (encode(codec, probe, 0, 0) != GFSMITH_OK)
    return false;
  for (unsigned i = 0; i < GFSMITH_MAX_SHARDS; i++)
    if ((probe->out[i] == 0) != (i < m))
      return false;
  return gfsmith_update(codec, 1, k, &probe->zero, probe->parity) == GFSMITH_EINVAL &&
         gfsmith_update(codec, 1, k - 1, &probe->zero, probe->parity) != GFSMITH_EINVAL;
}

static int refuse_shape(const gfsmith_codec *codec, unsigned k, unsigned m, gfc_probe *probe,
                        char *reason) {
  if (encode(codec, probe, 0, 0) == GFSMITH_EINVAL)
    return gfc_graph_fail(reason, GFSMITH_EUNSUPPORTED,
                          "the codec is in packet layout, which graphs do not support");
  return gfc_graph_fail(reason, GFSMITH_EINVAL,
                        "the codec is not one of k = %u data and m = %u parities", k, m);
}

/* Write the m x k parity matrix of a codec: encode unit vectors, and compare k, m and polynomial
 * with the results. The codec has no function that returns its shape or its matrix. */
static int codec_parity(const gfsmith_codec *codec, unsigned polynomial, unsigned k, unsigned m,
                        uint8_t *parity, char *reason) {
  gfc_probe probe = {0};
  for (unsigned n = 0; n < GFSMITH_MAX_SHARDS; n++) {
    probe.data[n] = &probe.zero;
    probe.parity[n] = probe.out + n;
  }
  if (!shaped(codec, &probe, k, m))
    return refuse_shape(codec, k, m, &probe, reason);
  for (unsigned j = 0; j < k; j++) {
    gfsmith_status status = encode(codec, &probe, j, 1);
    if (status != GFSMITH_OK)
      return gfc_graph_fail(reason, status, "%s", gfsmith_strerror(status));
    for (unsigned i = 0; i < m; i++)
      parity[i * k + j] = probe.out[i];
    /* If the field of another polynomial q gives the same product c * 2^7, then
     * a * p + r = b * q + r, so the irreducible q divides a, whose degree is at most 6. Then a = 0
     * and c is 0 or 1, whose products are the same in all fields. */
    status = encode(codec, &probe, j, 0x80);
    for (unsigned i = 0; i < m && status == GFSMITH_OK; i++)
      if (probe.out[i] != gfc_multiply(polynomial, 0x80, parity[i * k + j]))
        return gfc_graph_fail(reason, GFSMITH_EINVAL,
                              "polynomial 0x%x is not that of the codec's field", polynomial);
  }
  return GFSMITH_OK;
}

/* ---- from the request to the graph ---- */

static int check_ranks(const uint16_t *ranks, unsigned count, const char *name, char *reason) {
  for (unsigned n = 0; n < count; n++)
    if (ranks[n] >= GFSMITH_RANKS_MAX)
      return gfc_graph_fail(reason, GFSMITH_EINVAL, "%s %u is rank %u; allowed: 0..%d", name, n,
                            ranks[n], GFSMITH_RANKS_MAX - 1);
  return GFSMITH_OK;
}

static int check_request(const gfsmith_graph_request *request, const gfc_layout *layout,
                         char *reason) {
  if (layout == NULL)
    return gfc_graph_fail(reason, GFSMITH_EINVAL,
                          "the scheme is unknown; allowed: rs, lrc, ppr, ecpipe, triec");
  if (request->codec == NULL || request->holder == NULL)
    return gfc_graph_fail(reason, GFSMITH_EINVAL, "codec or holder is NULL");
  if (request->k < 1 || request->m < 1 || request->k > GFSMITH_MAX_SHARDS ||
      request->m > GFSMITH_MAX_SHARDS - request->k)
    return gfc_graph_fail(reason, GFSMITH_EINVAL,
                          "k = %u, m = %u; allowed: from 1, together up to %d", request->k,
                          request->m, GFSMITH_MAX_SHARDS);
  if (request->present == NULL && layout->encode == NULL)
    return gfc_graph_fail(reason, GFSMITH_EUNSUPPORTED,
                          "%s repairs only; allowed for encoding: rs, lrc, triec", layout->name);
  unsigned shards = request->k + request->m;
  int status = check_ranks(request->holder, shards, "the holder of shard", reason);
  if (status == GFSMITH_OK && request->present == NULL)
    status = check_ranks(&request->source, 1, "source", reason);
  if (status == GFSMITH_OK && request->present != NULL && request->sink != NULL)
    status = check_ranks(request->sink, shards, "the sink of shard", reason);
  return status;
}

/* Start a graph: scheme, shape and the matrix of the codec. */
static int begin(const gfsmith_graph_request *request, const gfc_layout *layout,
                 gfsmith_graph *graph, char *reason) {
  graph->scheme = layout->name;
  graph->encodes = request->present == NULL;
  graph->polynomial = request->polynomial ? request->polynomial : GFSMITH_POLYNOMIAL;
  graph->k = request->k;
  graph->m = request->m;
  graph->parity = calloc(request->m, request->k);
  if (graph->parity == NULL)
    return gfc_graph_fail(reason, GFSMITH_ENOMEM, "out of memory");
  return codec_parity(request->codec, graph->polynomial, graph->k, graph->m, graph->parity, reason);
}

/* Lay out an encoding, or a repair according to this plan. */
static int lay_out(const gfsmith_graph_request *request, const gfc_layout *layout,
                   const gfsmith_plan *plan, gfsmith_graph *graph, char *reason) {
  gfc_builder *builder = calloc(1, sizeof *builder);
  gfc_layout_job job = {.builder = builder, .k = graph->k, .m = graph->m, .parity = graph->parity};
  job.sum = calloc(graph->k + graph->m + 1u, sizeof *job.sum);
  int status = GFSMITH_ENOMEM;
  if (builder != NULL && job.sum != NULL) {
    job.holder = request->holder;
    job.source = request->source;
    job.read = gfsmith_plan_reads(plan, &job.reads);
    job.target = gfsmith_plan_targets(plan, &job.targets);
    job.matrix = gfsmith_plan_matrix(plan);
    job.sink = request->sink ? request->sink : request->holder;
    builder->polynomial = graph->polynomial;
    (graph->encodes ? layout->encode : layout->decode)(&job);
    status = gfc_build(builder, graph);
  }
  if (status != GFSMITH_OK)
    gfc_graph_fail(reason, status, "%s",
                   builder && builder->status ? builder->reason : "out of memory");
  if (builder != NULL)
    gfc_builder_clear(builder);
  free(builder);
  free(job.sum);
  return status;
}

static int plan_of(gfsmith_plan **plan, const gfsmith_graph_request *request, char *reason) {
  if (request->present == NULL)
    return GFSMITH_OK;
  gfsmith_status status =
      gfsmith_plan_create(plan, request->codec, request->present, request->wanted);
  if (status != GFSMITH_OK)
    return gfc_graph_fail(reason, status, "%s", gfsmith_strerror(status));
  unsigned targets;
  gfsmith_plan_targets(*plan, &targets);
  if (targets == 0)
    return gfc_graph_fail(reason, GFSMITH_EINVAL,
                          "no missing shard is wanted: there is nothing to rebuild");
  return GFSMITH_OK;
}

/* Check the finished graph. The only possible error of a layout is a rank that waits for itself. */
static int check(const gfsmith_graph *graph, char *reason) {
  char words[GFSMITH_REASON_MAX];
  int status = gfsmith_graph_check(graph, words);
  if (status == GFSMITH_EINVAL)
    return gfc_graph_fail(reason, GFSMITH_EUNSUPPORTED,
                          "%.150s; %s needs a sink or source that holds no shard here", words,
                          graph->scheme);
  return status == GFSMITH_OK ? status : gfc_graph_fail(reason, status, "out of memory");
}

int gfc_graph_create(gfsmith_graph **out, const gfsmith_graph_request *request, char *reason) {
  if (out == NULL || request == NULL)
    return gfc_graph_fail(reason, GFSMITH_EINVAL, "out or request is NULL");
  *out = NULL;
  const gfc_layout *layout = gfc_layout_find(request->scheme);
  int status = check_request(request, layout, reason);
  if (status != GFSMITH_OK)
    return status;
  gfsmith_graph *graph = calloc(1, sizeof *graph);
  gfsmith_plan *plan = NULL;
  if (graph == NULL)
    return gfc_graph_fail(reason, GFSMITH_ENOMEM, "out of memory");
  status = begin(request, layout, graph, reason);
  if (status == GFSMITH_OK)
    status = plan_of(&plan, request, reason);
  if (status == GFSMITH_OK)
    status = lay_out(request, layout, plan, graph, reason);
  if (status == GFSMITH_OK)
    status = check(graph, reason);
  gfsmith_plan_destroy(plan);
  if (status == GFSMITH_OK)
    *out = graph;
  else
    gfsmith_graph_destroy(graph);
  return status;
}
