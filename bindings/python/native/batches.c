/* batches.c: the operations of codecs on many stripes in arrays; see module.c. */
#include "grids.h"
#include "module.h"

/* Run a statement on the stripes of an array with this number of shards each, like RUN. A stripe is
 * in memory, but an array may have any number of stripes without bytes. */
#define RUN_STRIPES(g, shards, statement)                                                          \
  RUN_ON((g)->count, (g)->len *(Py_ssize_t)(shards), statement)

/* encode_stripes(codec, data, parity) */
static PyObject *encode_stripes(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 3) ? handle_of(given[0]) : NULL;
  if (h == NULL)
    return NULL;
  grid data = {0}, parity = {0};
  PyObject *result = NULL;
  if (grid_open(&data, given[1], "data", h->k, READ) &&
      grid_open(&parity, given[2], "parity", h->m, WRITE) && grids_match(&parity, &data) &&
      length_fits(h, data.len) && grids_apart(&parity, &data)) {
    gfsmith_status status;
    RUN_STRIPES(&data, h->k + h->m,
                status =
                    gfsmith_encode_strided(h->codec, (size_t)data.len, (size_t)data.count,
                                           data.base, data.stride, parity.base, parity.stride));
    result = done(status, "encode_stripes");
  }
  grid_close(&parity);
  grid_close(&data);
  return result;
}

/* Parse the indices of the changed shards; the caller frees them. */
static unsigned *indices_of(PyObject *items, const grid *deltas, unsigned k) {
  Py_ssize_t count = PyTuple_Size(items);
  if (count != deltas->count) {
    if (count >= 0)
      raise_status(GFSMITH_EINVAL, "indices: %zd for %zd stripes", count, deltas->count);
    return NULL;
  }
  unsigned *indices = PyMem_Malloc((size_t)count * sizeof *indices + 1);
  if (indices == NULL)
    PyErr_NoMemory();
  for (Py_ssize_t s = 0; indices != NULL && s < count; s++)
    if (!index_of(PyTuple_GetItem(items, s), "index", k, &indices[s])) {
      PyMem_Free(indices);
      indices = NULL;
    }
  return indices;
}

static PyObject *update_by(const handle *h, PyObject *items, const grid *deltas,
                           const grid *parity) {
  unsigned *indices = indices_of(items, deltas, h->k);
  if (indices == NULL)
    return NULL;
  gfsmith_status status;
  RUN_STRIPES(deltas, 1 + h->m,
              status = gfsmith_update_strided(h->codec, (size_t)deltas->len, (size_t)deltas->count,
                                              indices, deltas->base, deltas->stride.stripe,
                                              parity->base, parity->stride));
  PyMem_Free(indices);
  return done(status, "update_stripes");
}

/* update_stripes(codec, indices: tuple, deltas, parity) */
static PyObject *update_stripes(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 4) ? handle_of(given[0]) : NULL;
  if (h == NULL)
    return NULL;
  grid deltas = {0}, parity = {0};
  PyObject *result = NULL;
  if (grid_open_single(&deltas, given[2], "deltas", READ) &&
      grid_open(&parity, given[3], "parity", h->m, WRITE) && grids_match(&parity, &deltas) &&
      length_fits(h, deltas.len) && grids_apart(&parity, &deltas))
    result = update_by(h, given[1], &deltas, &parity);
  grid_close(&parity);
  grid_close(&deltas);
  return result;
}

/* reconstruct_stripes(codec, stripes, present, wanted) */
static PyObject *reconstruct_stripes(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 4) ? handle_of(given[0]) : NULL;
  bool present[GFSMITH_MAX_SHARDS], wanted[GFSMITH_MAX_SHARDS];
  unsigned n = h == NULL ? 0 : h->k + h->m;
  if (h == NULL || !flags_of(given[2], "present", n, present) ||
      !flags_of(given[3], "wanted", n, wanted))
    return NULL;
  grid g = {0};
  PyObject *result = NULL;
  if (grid_open(&g, given[1], "stripes", n, WRITE) && length_fits(h, g.len) && grid_apart(&g)) {
    gfsmith_status status;
    RUN_STRIPES(&g, n,
                status = gfsmith_reconstruct_strided(h->codec, (size_t)g.len, (size_t)g.count,
                                                     g.base, g.stride, present, wanted));
    result = done(status, "reconstruct_stripes");
  }
  grid_close(&g);
  return result;
}

PyObject *flag_list(Py_ssize_t count, const bool *flags) {
  PyObject *result = PyList_New(count);
  for (Py_ssize_t s = 0; result != NULL && s < count; s++)
    if (PyList_SetItem(result, s, PyBool_FromLong(flags[s])) != 0)
      Py_CLEAR(result);
  return result;
}

static PyObject *check_all(const handle *h, const grid *g) {
  bool *ok = PyMem_Malloc((size_t)g->count + 1);
  if (ok == NULL)
    return PyErr_NoMemory();
  gfsmith_status status;
  RUN_STRIPES(g, h->k + h->m,
              status = gfsmith_check_strided(h->codec, (size_t)g->len, (size_t)g->count, g->base,
                                             g->stride, ok));
  PyObject *result = status == GFSMITH_OK ? flag_list(g->count, ok) : done(status, "check_stripes");
  PyMem_Free(ok);
  return result;
}

/* check_stripes(codec, stripes) -> list of bool */
static PyObject *check_stripes(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 2) ? handle_of(given[0]) : NULL;
  if (h == NULL)
    return NULL;
  grid g = {0};
  PyObject *result = NULL;
  if (grid_open(&g, given[1], "stripes", h->k + h->m, READ) && length_fits(h, g.len))
    result = check_all(h, &g);
  grid_close(&g);
  return result;
}

PyMethodDef batch_methods[] = {
    FAST(encode_stripes), FAST(update_stripes),  FAST(reconstruct_stripes),
    FAST(check_stripes),  {NULL, NULL, 0, NULL},
};
