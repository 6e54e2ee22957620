/* timing.c: timed loops of calls, of this library and of peers that gfsmith bench has loaded; see
 * module.c. A peer's function is an address, and its tables are a buffer: the caller vouches for
 * both. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include <string.h>
#include <time.h>

#include "module.h"

/* Stripes of n shards in a pool, `pitch` bytes from one shard to the next. */
typedef struct stripes {
  uint8_t *pool;
  size_t count, pitch, len;
  unsigned k, n;
} stripes;

/* The contender of a loop, and the shards that are lost: sources and targets are their indices. */
typedef struct contender {
  const gfsmith_codec *codec;
  uintptr_t function;
  void *tables;
  const uint8_t *sources, *targets;
  unsigned source_count, target_count;
  bool present[GFSMITH_MAX_SHARDS];
  int erasures[GFSMITH_MAX_SHARDS + 1];
} contender;

typedef bool one_call(const contender *c, const stripes *s, uint8_t **shards);

static bool encode_call(const contender *c, const stripes *s, uint8_t **shards) {
  return gfsmith_encode(c->codec, s->len, (const uint8_t *const *)shards, shards + s->k) ==
         GFSMITH_OK;
}

static bool reconstruct_call(const contender *c, const stripes *s, uint8_t **shards) {
  return gfsmith_reconstruct(c->codec, s->len, shards, c->present, NULL) == GFSMITH_OK;
}

/* ISA-L ec_encode_data, for encoding and, with the rows of a repair, for decoding. */
static bool isal_call(const contender *c, const stripes *s, uint8_t **shards) {
  uint8_t *from[GFSMITH_MAX_SHARDS], *to[GFSMITH_MAX_SHARDS];
  for (unsigned i = 0; i < c->source_count; i++)
    from[i] = shards[c->sources[i]];
  for (unsigned i = 0; i < c->target_count; i++)
    to[i] = shards[c->targets[i]];
  void (*function)(int, int, int, uint8_t *, uint8_t **, uint8_t **) =
      (void (*)(int, int, int, uint8_t *, uint8_t **, uint8_t **))c->function;
  function((int)s->len, (int)c->source_count, (int)c->target_count, c->tables, from, to);
  return true;
}

static bool jerasure_encode_call(const contender *c, const stripes *s, uint8_t **shards) {
  void (*function)(int, int, int, int *, char **, char **, int) =
      (void (*)(int, int, int, int *, char **, char **, int))c->function;
  function((int)s->k, (int)(s->n - s->k), 8, c->tables, (char **)shards, (char **)(shards + s->k),
           (int)s->len);
  return true;
}

static bool jerasure_decode_call(const contender *c, const stripes *s, uint8_t **shards) {
  int (*function)(int, int, int, int *, int, int *, char **, char **, int) =
      (int (*)(int, int, int, int *, int, int *, char **, char **, int))c->function;
  int erasures[GFSMITH_MAX_SHARDS + 1];
  memcpy(erasures, c->erasures, sizeof erasures);
  return function((int)s->k, (int)(s->n - s->k), 8, c->tables, 0, erasures, (char **)shards,
                  (char **)(shards + s->k), (int)s->len) == 0;
}

static one_call *const calls_of[] = {encode_call, reconstruct_call, isal_call, jerasure_encode_call,
                                     jerasure_decode_call};

/* Nanoseconds of processor time of `calls` calls on stripes first, first + step, ... modulo their
 * number; -1: a call failed. */
static long long time_loop(one_call *call, const contender *c, const stripes *s, size_t first,
                           size_t step, size_t calls) {
  struct timespec begin, end;
  bool good = true;
  size_t stripe = first % s->count;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  for (size_t done = 0; good && done < calls; done++, stripe = (stripe + step) % s->count) {
    uint8_t *shards[GFSMITH_MAX_SHARDS];
    for (unsigned i = 0; i < s->n; i++)
      shards[i] = s->pool + (stripe * s->n + i) * s->pitch;
    good = call(c, s, shards);
  }
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  long long seconds = (long long)(end.tv_sec - begin.tv_sec);
  return good ? seconds * 1000000000 + (end.tv_nsec - begin.tv_nsec) : -1;
}

/* The lost shards as flags and as Jerasure's list. Are all indices below n? */
static bool lose(contender *c, unsigned n) {
  for (unsigned i = 0; i < n; i++)
    c->present[i] = true;
  bool good = c->source_count <= n && c->target_count <= n;
  for (unsigned i = 0; good && i < c->source_count; i++)
    good = c->sources[i] < n;
  for (unsigned i = 0; good && i < c->target_count; i++) {
    good = c->targets[i] < n;
    if (good)
      c->present[c->targets[i]] = false;
    c->erasures[i] = c->targets[i];
  }
  if (good)
    c->erasures[c->target_count] = -1;
  return good || raise_status(GFSMITH_EINVAL, "timing: a shard's index is not below %u", n);
}

/* Do the stripes lie in the pool? */
static bool fits(const stripes *s, Py_ssize_t pool) {
  return (s->count > 0 && s->pitch >= s->len && s->pitch <= (size_t)pool / s->n / s->count) ||
         raise_status(GFSMITH_EINVAL, "timing: the stripes do not fit into the pool");
}

/* time(kind, codec, function, tables, sources, targets, pool, pitch, len, count, first, step,
 * calls) */
static PyObject *time_calls(PyObject *module, PyObject *given) {
  (void)module;
  unsigned kind;
  unsigned long long function;
  PyObject *capsule, *result = NULL;
  Py_buffer tables, pool;
  const char *sources, *targets;
  Py_ssize_t source_count, target_count, pitch, len, count, first, step, calls;
  if (!PyArg_ParseTuple(given, "IOKw*y#y#w*nnnnnn", &kind, &capsule, &function, &tables, &sources,
                        &source_count, &targets, &target_count, &pool, &pitch, &len, &count, &first,
                        &step, &calls))
    return NULL;
  const handle *h = handle_of(capsule);
  if (h != NULL && kind < sizeof calls_of / sizeof *calls_of) {
    contender c = {h->codec,
                   (uintptr_t)function,
                   tables.buf,
                   (const uint8_t *)sources,
                   (const uint8_t *)targets,
                   (unsigned)source_count,
                   (unsigned)target_count,
                   {false},
                   {0}};
    stripes s = {pool.buf, (size_t)count, (size_t)pitch, (size_t)len, h->k, h->k + h->m};
    if (lose(&c, s.n) && fits(&s, pool.len)) {
      long long taken;
      Py_BEGIN_ALLOW_THREADS taken =
          time_loop(calls_of[kind], &c, &s, (size_t)first, (size_t)step, (size_t)calls);
      Py_END_ALLOW_THREADS result = PyLong_FromLongLong(taken);
    }
  } else if (h != NULL) {
    raise_status(GFSMITH_EINVAL, "timing: kind %u is unknown", kind);
  }
  PyBuffer_Release(&tables);
  PyBuffer_Release(&pool);
  return result;
}

PyMethodDef timing_methods[] = {
    {"time_calls", time_calls, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
