#include "scenario.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void require(bool holds, const char *file, int line, const char *format, ...) {
  va_list words;
  if (holds)
    return;
  fprintf(stderr, "%s:%d: ", file, line);
  va_start(words, format);
  vfprintf(stderr, format, words);
  va_end(words);
  fputc('\n', stderr);
  abort();
}

/* xorshift64*: Vigna, An experimental exploration of Marsaglia's xorshift generators, 2016. */
unsigned below(random_source *random, unsigned limit) {
  random->state ^= random->state >> 12;
  random->state ^= random->state << 25;
  random->state ^= random->state >> 27;
  return (unsigned)((random->state * UINT64_C(0x2545f4914f6cdd1d) >> 33) % limit);
}

static uint8_t *memory_of(size_t length) {
  uint8_t *memory = malloc(length > 0 ? length : 1);
  REQUIRE(memory != NULL, "no memory");
  memset(memory, 0xee, length);
  return memory;
}

static void fill(random_source *random, uint8_t *memory, size_t length) {
  for (size_t n = 0; n < length; n++)
    memory[n] = (uint8_t)below(random, 256);
}

static void choose_calc(vertex *v, random_source *random, unsigned inputs) {
  v->calc.polynomial = GFSMITH_POLYNOMIAL;
  v->calc.calculator = (gfsmith_calculator)below(random, 3);
  v->calc.outputs = v->calc.calculator == GFSMITH_FORWARD ? inputs
                    : v->calc.calculator == GFSMITH_XOR   ? 1
                                                          : 1 + below(random, OUTPUTS);
  v->calc.matrix = v->matrix;
  for (unsigned i = 0; i < v->calc.outputs && v->calc.calculator == GFSMITH_EC; i++) {
    unsigned unit = below(random, 3) == 0 ? below(random, inputs) : inputs;
    for (unsigned j = 0; j < inputs; j++)
      v->matrix[i * inputs + j] = unit < inputs ? unit == j : (uint8_t)below(random, 256);
  }
}

static void expect(vertex *v, unsigned inputs) {
  const uint8_t *input[LOCALS + RECEIVES];
  size_t length = v->memory.length;
  uint8_t ones[LOCALS + RECEIVES];
  for (unsigned j = 0; j < inputs; j++)
    input[j] = j < v->memory.locals ? v->local[j] : v->incoming[j - v->memory.locals];
  for (unsigned i = 0; i < v->calc.outputs; i++)
    v->expected[i] = memory_of(length);
  if (v->calc.calculator == GFSMITH_FORWARD) {
    for (unsigned i = 0; i < inputs; i++)
      memcpy(v->expected[i], input[i], length);
    return;
  }
  memset(ones, 1, sizeof ones);
  gfsmith_codec *codec;
  int status = gfsmith_codec_create_matrix(&codec, v->calc.polynomial, inputs, v->calc.outputs,
                                           v->calc.calculator == GFSMITH_XOR ? ones : v->matrix);
  REQUIRE(status == GFSMITH_OK, "codec: %d", status);
  REQUIRE(gfsmith_encode(codec, length, input, v->expected) == GFSMITH_OK, "encode");
  gfsmith_codec_destroy(codec);
}

/* Chooses the destinations of each output: later ranks, and our memory if there is no rank. */
static void choose_targets(scenario *all, random_source *random, unsigned rank, unsigned *edges) {
  vertex *v = &all->vertex[rank];
  for (unsigned i = 0; i < v->calc.outputs; i++) {
    unsigned targets = rank + 1 < all->vertices ? below(random, 3) : 0, sent = 0;
    for (unsigned n = 0; n < targets && v->stripe.count < TARGETS; n++) {
      unsigned to = rank + 1 + below(random, all->vertices - rank - 1);
      vertex *peer = &all->vertex[to];
      if (peer->wait.count == RECEIVES / 2)
        continue;
      uint16_t edge = (uint16_t)(*edges)++;
      v->target[v->stripe.count++] = (gfsmith_target){(uint16_t)to, edge, i};
      peer->incoming[peer->wait.count] = v->expected[i];
      peer->source[peer->wait.count++] = (gfsmith_source){(uint16_t)rank, edge};
      sent++;
    }
    if (sent == 0 || below(random, 2) == 0)
      v->output[i] = memory_of(v->memory.length);
  }
}

void scenario_make(scenario *all, random_source *random, unsigned vertices, uint64_t job,
                   size_t length, size_t slice) {
  unsigned edges = 0;
  memset(all, 0, sizeof *all);
  all->vertices = vertices;
  for (unsigned rank = 0; rank < vertices; rank++) {
    vertex *v = &all->vertex[rank];
    v->job = (gfsmith_job){job, job * 3, 0};
    v->memory = (gfsmith_memory){length,      slice,    0, (const uint8_t *const *)v->local,
                                 v->received, v->output};
    v->memory.locals = below(random, LOCALS + 1);
    if (v->memory.locals + v->wait.count == 0)
      v->memory.locals = 1;
    v->wait.source = v->source;
    v->stripe.target = v->target;
    for (unsigned j = 0; j < v->memory.locals; j++)
      fill(random, v->local[j] = memory_of(length), length);
    for (unsigned j = 0; j < v->wait.count; j++)
      v->received[j] = below(random, 2) == 0 ? memory_of(length) : NULL;
    choose_calc(v, random, v->memory.locals + v->wait.count);
    expect(v, v->memory.locals + v->wait.count);
    choose_targets(all, random, rank, &edges);
  }
}

static void done(void *context, const gfsmith_outcome *outcome) {
  vertex *v = context;
  v->calls++;
  v->outcome = *outcome;
}

int scenario_post(scenario *all, unsigned rank, gfsmith_node *node, gfsmith_operation **operation) {
  vertex *v = &all->vertex[rank];
  gfsmith_notice notice = {done, v, operation};
  if (v->stripe.count == 0)
    return gfsmith_recv_ec(node, &v->job, &v->wait, &v->calc, &v->memory, &notice);
  if (v->wait.count == 0)
    return gfsmith_ec_send(node, &v->job, &v->calc, &v->memory, &v->stripe, &notice);
  return gfsmith_recv_ec_send(node, &v->job, &v->wait, &v->calc, &v->memory, &v->stripe, &notice);
}

int scenario_incoherent(scenario *all, unsigned rank, gfsmith_node *node) {
  vertex *v = &all->vertex[rank];
  v->calls++;
  return gfsmith_incoherent(node, &v->job, &v->wait, &v->calc, &v->memory, &v->stripe, &v->outcome);
}

void scenario_check(const scenario *all, unsigned rank) {
  const vertex *v = &all->vertex[rank];
  for (unsigned i = 0; i < v->calc.outputs; i++) {
    if (v->output[i] != NULL)
      REQUIRE(memcmp(v->output[i], v->expected[i], v->memory.length) == 0, "rank %u output %u",
              rank, i);
  }
  for (unsigned j = 0; j < v->wait.count; j++) {
    if (v->received[j] != NULL)
      REQUIRE(memcmp(v->received[j], v->incoming[j], v->memory.length) == 0, "rank %u receive %u",
              rank, j);
  }
}

void scenario_free(scenario *all) {
  for (unsigned rank = 0; rank < all->vertices; rank++) {
    vertex *v = &all->vertex[rank];
    for (unsigned n = 0; n < LOCALS + RECEIVES; n++) {
      free(v->output[n]);
      free(v->expected[n]);
      free(n < LOCALS ? v->local[n] : v->received[n - LOCALS]);
    }
  }
}
