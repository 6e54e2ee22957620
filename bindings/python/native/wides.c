/* wides.c: gfsmith_wide.h over Python's buffers; see module.c. */
#include "gfsmith_wide.h"
#include "grids.h"
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

static bool wide_length_fits(const wide_handle *h, Py_ssize_t len) {
  return len <= 0 || (size_t)len % h->granule == 0 ||
         raise_status(GFSMITH_EINVAL, "shards of %zd bytes: must be a multiple of %zu", len,
                      h->granule);
}

/* Is the length valid, and do outputs not overlap other shards? */
static bool wide_ready(const wide_handle *h, const shards *s) {
  return wide_length_fits(h, s->len) && shards_apart(s);
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

static PyObject *encode_grids(const wide_handle *h, const grid *data, const grid *parity) {
  uint8_t **sources = grid_pointers(data), **results = grid_pointers(parity);
  PyObject *result = NULL;
  if (sources != NULL && results != NULL) {
    gfsmith_status status;
    RUN_ON(data->count, data->len * (Py_ssize_t)(h->k + h->m),
           status = gfsmith_wide_encode_stripes(h->wide, (size_t)data->len, (size_t)data->count,
                                                (const uint8_t *const *)sources, results));
    result = done(status, "encode_stripes");
  }
  PyMem_Free(results);
  PyMem_Free(sources);
  return result;
}

/* wide_encode_stripes(wide, data, parity) */
static PyObject *wide_encode_stripes(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const wide_handle *h = arguments(count, 3) ? PyCapsule_GetPointer(given[0], WIDE) : NULL;
  if (h == NULL)
    return NULL;
  grid data = {0}, parity = {0};
  PyObject *result = NULL;
  if (grid_open(&data, given[1], "data", h->k, READ) &&
      grid_open(&parity, given[2], "parity", h->m, WRITE) && grids_match(&parity, &data) &&
      wide_length_fits(h, data.len) && grids_apart(&parity, &data))
    result = encode_grids(h, &data, &parity);
  grid_close(&parity);
  grid_close(&data);
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

static PyObject *rebuild_grid(const wide_handle *h, const grid *g, const loss *lost) {
  uint8_t **pointers = grid_pointers(g);
  if (pointers == NULL)
    return NULL;
  gfsmith_status status;
  RUN_ON(g->count, g->len * g->shards,
         status = gfsmith_wide_reconstruct_stripes(h->wide, (size_t)g->len, (size_t)g->count,
                                                   pointers, lost->present, lost->wanted));
  PyMem_Free(pointers);
  return done(status, "reconstruct_stripes");
}

/* The same for an array of stripes. */
static PyObject *rebuild_stripes(const wide_handle *h, PyObject *given, const loss *lost) {
  grid g = {0};
  PyObject *result = NULL;
  if (grid_open(&g, given, "stripes", h->k + h->m, WRITE) && wide_length_fits(h, g.len) &&
      grid_apart(&g))
    result = rebuild_grid(h, &g, lost);
  grid_close(&g);
  return result;
}

/* Parse the flags of a repair and perform it. */
static PyObject *repaired(PyObject *const *given, Py_ssize_t count,
                          PyObject *(*repair)(const wide_handle *, PyObject *, const loss *)) {
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
    result = repair(h, given[1], &lost);
  PyMem_Free(uses);
  return result;
}

/* wide_reconstruct(wide, shards, present, wanted) */
static PyObject *wide_reconstruct(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  return repaired(given, count, rebuild);
}

/* wide_reconstruct_stripes(wide, stripes, present, wanted) */
static PyObject *wide_reconstruct_stripes(PyObject *module, PyObject *const *given,
                                          Py_ssize_t count) {
  (void)module;
  return repaired(given, count, rebuild_stripes);
}

PyMethodDef wide_methods[] = {
    {"wide_create", wide_create, METH_VARARGS, NULL},
    {"wide_shapes", wide_shapes, METH_VARARGS, NULL},
    FAST(wide_encode),
    FAST(wide_encode_stripes),
    FAST(wide_reconstruct),
    FAST(wide_reconstruct_stripes),
    {NULL, NULL, 0, NULL},
};
