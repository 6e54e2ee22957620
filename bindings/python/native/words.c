/* words.c: matrices over GF(2^16) over Python's buffers of words; see module.c.
 *
 * A shard is a sequence of words of 16 bits, the low byte first. gfsmith_algebra.h has planes of
 * low and of high bytes, so a call splits pieces of the shards, and joins the results.
 */
#include "gfsmith_algebra.h"
#include "module.h"

#include <stdlib.h>
#include <string.h>

#define WORDS "gfsmith.words"
#define MOST_SHARDS 127 /* k + m */
#define PIECE 1024      /* words */

typedef struct matrix {
  gfsmith_linear *linear;
  unsigned k, m;
} matrix;

static void release(PyObject *capsule) {
  matrix *x = PyCapsule_GetPointer(capsule, WORDS);
  gfsmith_linear_destroy(x->linear);
  PyMem_Free(x);
}

/* words_create(polynomial, k, m, elements) -> capsule. elements: m rows of k words, low byte first.
 */
static PyObject *words_create(PyObject *module, PyObject *given) {
  (void)module;
  int polynomial, k, m;
  const uint8_t *bytes;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(given, "iiiy#", &polynomial, &k, &m, &bytes, &size))
    return NULL;
  if (polynomial >> 16 != 1 || k < 1 || m < 1 || k + m > MOST_SHARDS || size != 2 * k * m) {
    raise_status(GFSMITH_EINVAL, "matrix: %zd bytes for %d rows of %d words", size, m, k);
    return NULL;
  }
  uint16_t elements[MOST_SHARDS * MOST_SHARDS / 4 + 1];
  for (int i = 0; i < k * m; i++)
    elements[i] = (uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
  gfsmith_linear *linear = NULL;
  gfsmith_status status =
      gfsmith_linear_create(&linear, (unsigned)polynomial, (unsigned)k, (unsigned)m, elements);
  if (status != GFSMITH_OK)
    return done(status, "matrix");
  matrix *x = PyMem_Malloc(sizeof *x);
  PyObject *capsule = NULL;
  if (x == NULL)
    PyErr_NoMemory();
  else {
    *x = (matrix){.linear = linear, .k = (unsigned)k, .m = (unsigned)m};
    capsule = PyCapsule_New(x, WORDS, release);
  }
  if (capsule == NULL) {
    PyMem_Free(x);
    gfsmith_linear_destroy(linear);
  }
  return capsule;
}

/* Split n words, n <= PIECE, into planes of PIECE bytes. The loop has a fixed length, so that
 * compilers vectorise it. */
static void split(const uint8_t *words, size_t n, uint8_t *restrict low, uint8_t *restrict high) {
  uint8_t whole[2 * PIECE];
  if (n < PIECE) {
    memset(whole, 0, sizeof whole);
    words = memcpy(whole, words, 2 * n);
  }
  const uint8_t *restrict from = words;
  for (size_t i = 0; i < PIECE; i++) {
    low[i] = from[2 * i];
    high[i] = from[2 * i + 1];
  }
}

/* Join the first n words of planes. */
static void join(const uint8_t *restrict low, const uint8_t *restrict high, size_t n,
                 uint8_t *words) {
  uint8_t whole[2 * PIECE], *restrict to = n < PIECE ? whole : words;
  for (size_t i = 0; i < PIECE; i++) {
    to[2 * i] = low[i];
    to[2 * i + 1] = high[i];
  }
  if (n < PIECE)
    memcpy(words, whole, 2 * n);
}

static gfsmith_status dot(const matrix *x, size_t words, uint8_t *const *shards) {
  unsigned planes = 2 * (x->k + x->m);
  uint8_t *memory = calloc(planes, PIECE), *plane[2 * MOST_SHARDS];
  if (memory == NULL)
    return GFSMITH_ENOMEM;
  for (unsigned i = 0; i < planes; i++)
    plane[i] = memory + (size_t)i * PIECE;
  gfsmith_status status = GFSMITH_OK;
  for (size_t at = 0; status == GFSMITH_OK && at < words; at += PIECE) {
    size_t n = words - at < PIECE ? words - at : PIECE;
    for (unsigned i = 0; i < x->k; i++)
      split(shards[i] + 2 * at, n, plane[2 * i], plane[2 * i + 1]);
    status = gfsmith_linear_dot(x->linear, n, (const uint8_t *const *)plane, plane + 2 * x->k);
    for (unsigned i = x->k; i < x->k + x->m; i++)
      join(plane[2 * i], plane[2 * i + 1], n, shards[i] + 2 * at);
  }
  free(memory);
  return status;
}

/* words_dot(matrix, sources, results) */
static PyObject *words_dot(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  if (!arguments(count, 3))
    return NULL;
  const matrix *x = PyCapsule_GetPointer(given[0], WORDS);
  if (x == NULL)
    return NULL;
  shards s;
  gfsmith_status status = GFSMITH_OK;
  bool good = shards_begin(&s, x->k + x->m) &&
              shards_add_all(&s, given[1], "sources", x->k, READ) &&
              shards_add_all(&s, given[2], "results", x->m, WRITE) && shards_apart(&s);
  if (good && s.len % 2 != 0)
    good = raise_status(GFSMITH_EINVAL, "shards of %zd bytes: must be words of 2", s.len);
  if (good)
    RUN(&s, status = dot(x, (size_t)s.len / 2, s.pointers));
  shards_end(&s);
  return good ? done(status, "words") : NULL;
}

PyMethodDef words_methods[] = {
    {"words_create", words_create, METH_VARARGS, NULL},
    FAST(words_dot),
    {NULL, NULL, 0, NULL},
};
