/* checksums.c: gfsmith_checksum.h over Python's buffers; see module.c. */
#include <string.h>

#include "gfsmith_checksum.h"
#include "grids.h"
#include "module.h"

#define SKETCH "gfsmith.sketch"

static const char *const kinds[] = {"crc32c",     "crc32",     "crc64_nvme",
                                    "crc64_ecma", "crc64_iso", "crc16_t10"};

/* Get a check by its name. */
static bool kind_of(PyObject *object, gfsmith_checksum *kind) {
  for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
    if (PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, kinds[n]) == 0) {
      *kind = (gfsmith_checksum)n;
      return true;
    }
  return raise_status(GFSMITH_EINVAL,
                      "kind: %R, must be crc32c, crc32, crc64_nvme, crc64_ecma, crc64_iso or "
                      "crc16_t10",
                      object);
}

/* Get a state, the argument `name`. The library refuses one with too many bits, so that a call
 * without bytes is tried. */
static bool state_of(PyObject *object, const char *name, gfsmith_checksum kind, uint64_t *state) {
  *state = PyLong_AsUnsignedLongLong(object);
  if (*state == (uint64_t)-1 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError))
      return false;
    PyErr_Clear();
  } else if (gfsmith_checksum_update(kind, state, 0, NULL) == GFSMITH_OK)
    return true;
  return raise_status(GFSMITH_EINVAL, "%s: %R, must be a checksum of this kind", name, object);
}

/* Get a state for each of n shards from a tuple, the argument `name`. */
static bool states_of(PyObject *object, const char *name, gfsmith_checksum kind, size_t n,
                      uint64_t *states) {
  Py_ssize_t size = PyTuple_Size(object);
  if (size < 0)
    return false;
  if (size != (Py_ssize_t)n)
    return raise_status(GFSMITH_EINVAL, "%s: %zd, must be %zu", name, size, n);
  for (size_t i = 0; i < n; i++)
    if (!state_of(PyTuple_GetItem(object, (Py_ssize_t)i), name, kind, &states[i]))
      return false;
  return true;
}

static PyObject *list_of(size_t n, const uint64_t *states) {
  PyObject *list = PyList_New((Py_ssize_t)n);
  for (size_t i = 0; list != NULL && i < n; i++) {
    PyObject *number = PyLong_FromUnsignedLongLong(states[i]);
    if (number == NULL || PyList_SetItem(list, (Py_ssize_t)i, number) != 0)
      Py_CLEAR(list);
  }
  return list;
}

/* Is the length one that this check allows? */
static bool length_allowed(gfsmith_checksum kind, Py_ssize_t len) {
  return kind != GFSMITH_CRC16_T10 || len <= 0 || len % 512 == 0 ||
         raise_status(GFSMITH_EINVAL, "length: %zd, must be a multiple of 512 for crc16_t10", len);
}

/* checksum(kind, data, state) -> int */
static PyObject *checksum(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  gfsmith_checksum kind;
  uint64_t state;
  if (!arguments(count, 3) || !kind_of(given[0], &kind) ||
      !state_of(given[2], "state", kind, &state))
    return NULL;
  shards s;
  PyObject *result = NULL;
  if (shards_begin(&s, 1) && shards_add_one(&s, given[1], "data", READ)) {
    gfsmith_status status;
    RUN(&s, status = gfsmith_checksum_update(kind, &state, (size_t)s.len, s.pointers[0]));
    result = status == GFSMITH_OK ? PyLong_FromUnsignedLongLong(state) : done(status, "checksum");
  }
  shards_end(&s);
  return result;
}

/* checksum_combine(kind, first, second, second_length) -> int */
static PyObject *checksum_combine(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  gfsmith_checksum kind;
  uint64_t state, second;
  if (!arguments(count, 4) || !kind_of(given[0], &kind) ||
      !state_of(given[1], "first", kind, &state) || !state_of(given[2], "second", kind, &second))
    return NULL;
  Py_ssize_t length = PyLong_AsSsize_t(given[3]);
  if (length == -1 && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_OverflowError))
    return NULL;
  PyErr_Clear();
  if (length < 0) {
    (void)raise_status(GFSMITH_EINVAL, "second_length: %R, must be a number of bytes", given[3]);
    return NULL;
  }
  gfsmith_status status = gfsmith_checksum_combine(kind, &state, second, (size_t)length);
  return status == GFSMITH_OK ? PyLong_FromUnsignedLongLong(state)
                              : done(status, "checksum_combine");
}

/* encode_checksums(codec, kind, data, parity, states: tuple) -> list */
static PyObject *encode_checksums(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 5) ? handle_of(given[0]) : NULL;
  gfsmith_checksum kind;
  uint64_t states[GFSMITH_MAX_SHARDS];
  if (h == NULL || !kind_of(given[1], &kind) ||
      !states_of(given[4], "states", kind, h->k + h->m, states))
    return NULL;
  shards s;
  PyObject *result = NULL;
  if (shards_begin(&s, h->k + h->m) && shards_add_all(&s, given[2], "data", h->k, READ) &&
      shards_add_all(&s, given[3], "parity", h->m, WRITE) && ready(h, &s) &&
      length_allowed(kind, s.len)) {
    gfsmith_status status;
    RUN(&s, status = gfsmith_encode_checksums(h->codec, kind, (size_t)s.len,
                                              (const uint8_t *const *)s.pointers, s.pointers + h->k,
                                              states));
    result = status == GFSMITH_OK ? list_of(h->k + h->m, states) : done(status, "encode_checksums");
  }
  shards_end(&s);
  return result;
}

/* Get the states of all stripes; with None they are 0. */
static bool stripe_states(PyObject *object, gfsmith_checksum kind, size_t n, uint64_t *states) {
  if (object != Py_None)
    return states_of(object, "states", kind, n, states);
  memset(states, 0, n * sizeof *states);
  return true;
}

/* Room for the states of so many stripes. */
static uint64_t *new_states(const handle *h, size_t count) {
  size_t stripe = sizeof(uint64_t) * (h->k + h->m);
  uint64_t *states = count < SIZE_MAX / 2 / stripe ? PyMem_Malloc(count * stripe + 1) : NULL;
  if (states == NULL)
    PyErr_NoMemory();
  return states;
}

/* Encode stripes whose arrays are valid; `given` are their states. */
static PyObject *stripes_checksums(const handle *h, gfsmith_checksum kind, const grid *data,
                                   const grid *parity, PyObject *given) {
  uint64_t *states = new_states(h, (size_t)data->count);
  if (states == NULL)
    return NULL;
  size_t n = (size_t)data->count * (h->k + h->m);
  uint8_t **sources = grid_pointers(data), **results = grid_pointers(parity);
  PyObject *list = NULL;
  if (sources != NULL && results != NULL && stripe_states(given, kind, n, states)) {
    gfsmith_status status;
    RUN_ON(data->count, data->len * (Py_ssize_t)(h->k + h->m),
           status = gfsmith_encode_stripes_checksums(
               h->codec, kind, (size_t)data->len, (size_t)data->count,
               (const uint8_t *const *)sources, results, states));
    list = status == GFSMITH_OK ? list_of(n, states) : done(status, "encode_stripes_checksums");
  }
  PyMem_Free(results);
  PyMem_Free(sources);
  PyMem_Free(states);
  return list;
}

/* encode_stripes_checksums(codec, kind, data, parity, states: tuple or None) -> list: the states of
 * all stripes */
static PyObject *encode_stripes_checksums(PyObject *module, PyObject *const *given,
                                          Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 5) ? handle_of(given[0]) : NULL;
  gfsmith_checksum kind;
  if (h == NULL || !kind_of(given[1], &kind))
    return NULL;
  grid data = {0}, parity = {0};
  PyObject *result = NULL;
  if (grid_open(&data, given[2], "data", h->k, READ) &&
      grid_open(&parity, given[3], "parity", h->m, WRITE) && grids_match(&parity, &data) &&
      length_fits(h, data.len) && length_allowed(kind, data.len) && grids_apart(&parity, &data))
    result = stripes_checksums(h, kind, &data, &parity, given[4]);
  grid_close(&parity);
  grid_close(&data);
  return result;
}

/* The arguments of reconstruct_checksums without the codec and the shards. */
typedef struct repair {
  gfsmith_checksum kind;
  bool present[GFSMITH_MAX_SHARDS], wanted[GFSMITH_MAX_SHARDS], wrong[GFSMITH_MAX_SHARDS];
  bool compared;
  uint64_t states[GFSMITH_MAX_SHARDS], expected[GFSMITH_MAX_SHARDS];
} repair;

static bool repair_of(PyObject *const *given, unsigned n, repair *r) {
  memset(r->wrong, 0, sizeof r->wrong);
  r->compared = given[6] != Py_None;
  return kind_of(given[1], &r->kind) && flags_of(given[3], "present", n, r->present) &&
         flags_of(given[4], "wanted", n, r->wanted) &&
         states_of(given[5], "states", r->kind, n, r->states) &&
         (!r->compared || states_of(given[6], "expected", r->kind, n, r->expected));
}

/* reconstruct_checksums(codec, kind, shards, present, wanted, states: tuple, expected: tuple or
 * None) -> (list of states, list of flags: wrong) */
static PyObject *reconstruct_checksums(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 7) ? handle_of(given[0]) : NULL;
  unsigned n = h == NULL ? 0 : h->k + h->m;
  use uses[GFSMITH_MAX_SHARDS];
  repair r;
  if (h == NULL || !repair_of(given, n, &r))
    return NULL;
  if (too_many(n, h->m, r.present))
    return done(GFSMITH_ETOOMANY, "reconstruct_checksums");
  uses_of(n, r.present, r.wanted, uses);
  shards s;
  PyObject *result = NULL;
  if (shards_begin(&s, n) && shards_add(&s, given[2], "shards", n, uses) && ready(h, &s) &&
      length_allowed(r.kind, s.len)) {
    gfsmith_status status;
    RUN(&s, status = gfsmith_reconstruct_checksums(h->codec, r.kind, s.len > 0 ? (size_t)s.len : 0,
                                                   s.pointers, r.present, r.wanted, r.states,
                                                   r.compared ? r.expected : NULL, r.wrong));
    PyObject *list =
        status == GFSMITH_OK ? list_of(n, r.states) : done(status, "reconstruct_checksums");
    result = list == NULL ? NULL : Py_BuildValue("(NN)", list, flag_list(n, r.wrong));
  }
  shards_end(&s);
  return result;
}

/* check_checksums(codec, kind, shards, states: tuple) -> (bool, list) */
static PyObject *check_checksums(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 4) ? handle_of(given[0]) : NULL;
  gfsmith_checksum kind;
  uint64_t states[GFSMITH_MAX_SHARDS];
  if (h == NULL || !kind_of(given[1], &kind) ||
      !states_of(given[3], "states", kind, h->k + h->m, states))
    return NULL;
  shards s;
  PyObject *result = NULL;
  unsigned n = h->k + h->m;
  if (shards_begin(&s, n) && shards_add_all(&s, given[2], "shards", n, READ) && ready(h, &s) &&
      length_allowed(kind, s.len)) {
    gfsmith_status status;
    bool ok = false;
    RUN(&s, status = gfsmith_check_checksums(h->codec, kind, (size_t)s.len,
                                             (const uint8_t *const *)s.pointers, states, &ok));
    PyObject *list = status == GFSMITH_OK ? list_of(n, states) : done(status, "check_checksums");
    result = list == NULL ? NULL : Py_BuildValue("(NN)", PyBool_FromLong(ok), list);
  }
  shards_end(&s);
  return result;
}

static void release_sketch(PyObject *capsule) {
  gfsmith_sketch_destroy(PyCapsule_GetPointer(capsule, SKETCH));
}

/* sketch_tables(polynomial) -> capsule */
static PyObject *sketch_tables(PyObject *module, PyObject *polynomial) {
  (void)module;
  unsigned long number = PyLong_AsUnsignedLong(polynomial);
  if (number == (unsigned long)-1 && PyErr_Occurred())
    return NULL;
  gfsmith_sketch *tables = NULL;
  gfsmith_status status = gfsmith_sketch_create(&tables, (unsigned)number);
  if (status != GFSMITH_OK)
    return done(status, "sketch");
  PyObject *capsule = PyCapsule_New(tables, SKETCH, release_sketch);
  if (capsule == NULL)
    gfsmith_sketch_destroy(tables);
  return capsule;
}

/* Get a sketch, the argument `start`. */
static bool sketch_of(PyObject *object, uint8_t *sum) {
  char *bytes;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(object, &bytes, &size) != 0)
    return false;
  if (size != GFSMITH_SKETCH_BYTES)
    return raise_status(GFSMITH_EINVAL, "start: %zd bytes, must be %d", size, GFSMITH_SKETCH_BYTES);
  memcpy(sum, bytes, GFSMITH_SKETCH_BYTES);
  return true;
}

static bool offset_of(PyObject *object, uint64_t *offset) {
  *offset = PyLong_AsUnsignedLongLong(object);
  if (*offset != (uint64_t)-1 || !PyErr_Occurred())
    return true;
  if (!PyErr_ExceptionMatches(PyExc_OverflowError))
    return false;
  PyErr_Clear();
  return raise_status(GFSMITH_EINVAL, "offset: %R, must be 0 to 2^64 - 1 less the bytes", object);
}

/* sketch_add(tables, start: bytes, offset, data) -> bytes */
static PyObject *sketch_add(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const gfsmith_sketch *tables =
      arguments(count, 4) ? PyCapsule_GetPointer(given[0], SKETCH) : NULL;
  uint8_t sum[GFSMITH_SKETCH_BYTES];
  uint64_t offset;
  if (tables == NULL || !sketch_of(given[1], sum) || !offset_of(given[2], &offset))
    return NULL;
  shards s;
  PyObject *result = NULL;
  if (shards_begin(&s, 1) && shards_add_one(&s, given[3], "data", READ)) {
    gfsmith_status status;
    RUN(&s, status = gfsmith_sketch_add(tables, sum, offset, (size_t)s.len, s.pointers[0]));
    result = status == GFSMITH_OK
                 ? PyBytes_FromStringAndSize((const char *)sum, GFSMITH_SKETCH_BYTES)
                 : done(status, "sketch");
  }
  shards_end(&s);
  return result;
}

PyMethodDef checksum_methods[] = {
    FAST(checksum),
    FAST(checksum_combine),
    FAST(encode_checksums),
    FAST(encode_stripes_checksums),
    FAST(reconstruct_checksums),
    FAST(check_checksums),
    {"sketch_tables", sketch_tables, METH_O, NULL},
    FAST(sketch_add),
    {NULL, NULL, 0, NULL},
};
