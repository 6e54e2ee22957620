/* wides.c: gfsmith_wide.h over Python's buffers; see module.c. */
#include "gfsmith_wide.h"
#include "module.h"

#define WIDE "gfsmith.wide"

/* The contents of a capsule, immutable. */
typedef struct wide_handle {
  gfsmith_wide *wide;
  unsigned k, m;
  int granule; /* lengths are multiples of so many bytes */
} wide_handle;

static void release(PyObject *capsule) {
  wide_handle *h = PyCapsule_GetPointer(capsule, WIDE);
  gfsmith_wide_destroy(h->wide);
  PyMem_Free(h);
}

/* wide_create(code, k, m, granule) -> capsule */
static PyObject *wide_create(PyObject *module, PyObject *given) {
  (void)module;
  const char *code;
  int k, m, granule;
  if (!PyArg_ParseTuple(given, "siii", &code, &k, &m, &granule))
    return NULL;
  gfsmith_wide *wide = NULL;
  gfsmith_status status = gfsmith_wide_create(&wide, code, (unsigned)k, (unsigned)m);
  if (status != GFSMITH_OK)
    return done(status, "wide");
  wide_handle *h = PyMem_Malloc(sizeof *h);
  PyObject *capsule = NULL;
  if (h == NULL)
    PyErr_NoMemory();
  else {
    *h = (wide_handle){.wide = wide, .k = (unsigned)k, .m = (unsigned)m, .granule = granule};
    capsule = PyCapsule_New(h, WIDE, release);
  }
  if (capsule == NULL) {
    PyMem_Free(h);
    gfsmith_wide_destroy(wide);
  }
  return capsule;
}

/* Is the length valid, and do outputs not overlap other shards? */
static bool wide_ready(const wide_handle *h, const shards *s) {
  if (s->len > 0 && s->len % h->granule != 0)
    return raise_status(GFSMITH_EINVAL, "shards of %zd bytes: must be a multiple of %d", s->len,
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
    RUN(&s, status = gfsmith_wide_encode(h->wide, (size_t)s.len, (const uint8_t *const *)s.pointers,
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
    RUN(&s, status = gfsmith_wide_reconstruct(h->wide, s.len > 0 ? (size_t)s.len : 0, s.pointers,
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
    FAST(wide_encode),
    FAST(wide_reconstruct),
    {NULL, NULL, 0, NULL},
};
