/* wides.c: gfsmith_wide.h over Python's buffers; see module.c. */
#include "gfsmith_wide.h"
#include "module.h"

#define WIDE "gfsmith.wide"

/* The contents of a capsule, immutable. */
typedef struct wide_handle {
  gfsmith_wide *wide;
  unsigned k, m;
  size_t granule;                   /* lengths are multiples of so many bytes */
  PyObject *pool;                   /* capsule, or None */
  const gfsmith_executor *executor; /* of the pool, or NULL */
} wide_handle;

static void release(PyObject *capsule) {
  wide_handle *h = PyCapsule_GetPointer(capsule, WIDE);
  gfsmith_wide_destroy(h->wide);
  Py_DECREF(h->pool);
  PyMem_Free(h);
}

/* A capsule that owns the object, or frees it on failure. */
static PyObject *capsule_owning(const wide_handle *made) {
  wide_handle *h = PyMem_Malloc(sizeof *h);
  if (h == NULL) {
    gfsmith_wide_destroy(made->wide);
    return PyErr_NoMemory();
  }
  *h = *made;
  Py_INCREF(h->pool);
  PyObject *capsule = PyCapsule_New(h, WIDE, release);
  if (capsule == NULL) {
    Py_DECREF(h->pool);
    gfsmith_wide_destroy(h->wide);
    PyMem_Free(h);
  }
  return capsule;
}

/* wide_create(code, k, m, pool) -> capsule; pool: None for the calling thread alone */
static PyObject *wide_create(PyObject *module, PyObject *given) {
  (void)module;
  const char *code;
  int k, m;
  wide_handle made = {0};
  if (!PyArg_ParseTuple(given, "siiO", &code, &k, &m, &made.pool))
    return NULL;
  if (made.pool != Py_None && (made.executor = executor_of(made.pool)) == NULL)
    return NULL;
  made.k = (unsigned)k;
  made.m = (unsigned)m;
  made.granule = gfsmith_wide_granule(code);
  gfsmith_status status = gfsmith_wide_create(&made.wide, code, made.k, made.m);
  return status == GFSMITH_OK ? capsule_owning(&made) : done(status, "wide");
}

/* wide_shapes(code) -> text, or None for an unknown code */
static PyObject *wide_shapes(PyObject *module, PyObject *given) {
  (void)module;
  const char *code;
  if (!PyArg_ParseTuple(given, "s", &code))
    return NULL;
  return Py_BuildValue("z", gfsmith_wide_shapes(code));
}

/* Is the length valid, and do outputs not overlap other shards? */
static bool wide_ready(const wide_handle *h, const shards *s) {
  if (s->len > 0 && (size_t)s->len % h->granule != 0)
    return raise_status(GFSMITH_EINVAL, "shards of %zd bytes: must be a multiple of %zu", s->len,
                        h->granule);
  return shards_apart(s);
}

/* wide_encode(wide, data, parity) */
static PyObject *wide_encode(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const wide_handle *h = arguments(count, 3) ? PyCapsule_GetPointer(given[0], WIDE) : NULL;
  if (h == NULL)
    return NULL;
  shards s;
  PyObject *result = NULL;
  if (shards_begin(&s, h->k + h->m) && shards_add_all(&s, given[1], "data", h->k, READ) &&
      shards_add_all(&s, given[2], "parity", h->m, WRITE) && wide_ready(h, &s)) {
    gfsmith_status status;
    RUN(&s, status = gfsmith_wide_encode_parallel(h->wide, h->executor, (size_t)s.len,
                                                  (const uint8_t *const *)s.pointers,
                                                  s.pointers + h->k));
    result = done(status, "encode");
  }
  shards_end(&s);
  return result;
}

/* The flags of a repair, n of each. */
typedef struct loss {
  bool *present, *wanted;
  use *uses;
} loss;

/* The repair itself. Errors in the order of calls.c: too many missing shards, then their bytes. */
static PyObject *rebuild(const wide_handle *h, PyObject *given, const loss *lost) {
  unsigned n = h->k + h->m;
  if (too_many(n, h->m, lost->present))
    return done(GFSMITH_ETOOMANY, "reconstruct");
  uses_of(n, lost->present, lost->wanted, lost->uses);
  shards s;
  PyObject *result = NULL;
  if (shards_begin(&s, n) && shards_add(&s, given, "shards", n, lost->uses) && wide_ready(h, &s)) {
    gfsmith_status status;
    RUN(&s, status = gfsmith_wide_reconstruct_parallel(h->wide, h->executor,
                                                       s.len > 0 ? (size_t)s.len : 0, s.pointers,
                                                       lost->present, lost->wanted));
    result = done(status, "reconstruct");
  }
  shards_end(&s);
  return result;
}

/* wide_reconstruct(wide, shards, present, wanted) */
static PyObject *wide_reconstruct(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const wide_handle *h = arguments(count, 4) ? PyCapsule_GetPointer(given[0], WIDE) : NULL;
  if (h == NULL)
    return NULL;
  unsigned n = h->k + h->m;
  use *uses = PyMem_Malloc(n * (sizeof *uses + 2 * sizeof(bool)));
  if (uses == NULL)
    return PyErr_NoMemory();
  const loss lost = {.present = (bool *)(uses + n), .wanted = (bool *)(uses + n) + n, .uses = uses};
  PyObject *result = NULL;
  if (flags_of(given[2], "present", n, lost.present) &&
      flags_of(given[3], "wanted", n, lost.wanted))
    result = rebuild(h, given[1], &lost);
  PyMem_Free(uses);
  return result;
}

PyMethodDef wide_methods[] = {
    {"wide_create", wide_create, METH_VARARGS, NULL},
    {"wide_shapes", wide_shapes, METH_VARARGS, NULL},
    FAST(wide_encode),
    FAST(wide_reconstruct),
    {NULL, NULL, 0, NULL},
};
