/* calls.c: the operations of codecs on shards; see module.c. */
#include "module.h"

/* encode(codec, data, parity) */
static PyObject *encode(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 3) ? handle_of(given[0]) : NULL;
  if (h == NULL)
    return NULL;
  shards s;
  PyObject *result = NULL;
  if (shards_begin(&s, h->k + h->m) && shards_add_all(&s, given[1], "data", h->k, READ) &&
      shards_add_all(&s, given[2], "parity", h->m, WRITE) && ready(h, &s)) {
    gfsmith_status status;
    RUN(&s,
        status = gfsmith_encode_parallel(h->codec, h->executor, (size_t)s.len,
                                         (const uint8_t *const *)s.pointers, s.pointers + h->k));
    result = done(status, "encode");
  }
  shards_end(&s);
  return result;
}

/* encoded(codec, data) -> list of m new parities, of type bytes */
static PyObject *encoded(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 2) ? handle_of(given[0]) : NULL;
  PyObject *made = h == NULL ? NULL : PyList_New(0);
  if (made == NULL)
    return NULL;
  shards s;
  PyObject *good = NULL;
  if (shards_begin(&s, h->k + h->m) && shards_add_all(&s, given[1], "data", h->k, READ) &&
      length_fits(h, s.len) && shards_add_new(&s, made, h->m)) {
    gfsmith_status status;
    RUN(&s,
        status = gfsmith_encode_parallel(h->codec, h->executor, (size_t)s.len,
                                         (const uint8_t *const *)s.pointers, s.pointers + h->k));
    good = done(status, "encoded");
  }
  shards_end(&s);
  if (good == NULL)
    Py_CLEAR(made);
  Py_XDECREF(good);
  return made;
}

/* Parse the different indices of k shards from a tuple of int. place: for each index, where it is
 * in the tuple, or -1. */
static bool places_of(const handle *h, PyObject *indices, int *place) {
  for (unsigned index = 0; index < h->k + h->m; index++)
    place[index] = -1;
  for (unsigned i = 0; i < h->k; i++) {
    PyObject *given = PyTuple_GetItem(indices, i);
    long index = PyLong_Check(given) ? PyLong_AsLong(given) : -1;
    PyErr_Clear(); /* an overflow is -1, too */
    if (index < 0 || index >= (long)(h->k + h->m) || place[index] >= 0)
      return raise_status(GFSMITH_EINVAL, "indices[%u]: must be an index that occurs once", i);
    place[index] = (int)i;
  }
  return true;
}

/* The k data shards in order: given ones, and the rebuilt ones for the others. */
static PyObject *data_list(PyObject *have, const int *place, PyObject *rebuilt, unsigned k) {
  PyObject *data = PyList_New(k);
  Py_ssize_t next = 0;
  for (unsigned i = 0; data != NULL && i < k; i++) {
    PyObject *shard =
        place[i] >= 0 ? PyTuple_GetItem(have, place[i]) : PyList_GetItem(rebuilt, next++);
    if (PyList_SetItem(data, i, Py_NewRef(shard)) != 0)
      Py_CLEAR(data);
  }
  return data;
}

/* The work of data_of, after shards_begin. rebuilt: a list, to which new shards are appended. */
static PyObject *data_from(const handle *h, shards *s, PyObject *have, const int *place,
                           PyObject *rebuilt) {
  uint8_t *pointers[GFSMITH_MAX_SHARDS];
  bool present[GFSMITH_MAX_SHARDS], wanted[GFSMITH_MAX_SHARDS];
  unsigned missing = 0, next = h->k;
  for (unsigned i = 0; i < h->k + h->m; i++) {
    present[i] = place[i] >= 0;
    wanted[i] = !present[i] && i < h->k;
    missing += wanted[i];
  }
  if (!shards_add_all(s, have, "shards", h->k, READ) || !length_fits(h, s->len) ||
      !shards_add_new(s, rebuilt, missing))
    return NULL;
  for (unsigned i = 0; i < h->k + h->m; i++)
    pointers[i] = present[i] ? s->pointers[place[i]] : wanted[i] ? s->pointers[next++] : NULL;
  gfsmith_status status;
  RUN(s, status = gfsmith_reconstruct_parallel(h->codec, h->executor, (size_t)s->len, pointers,
                                               present, wanted));
  PyObject *good = done(status, "data_of");
  Py_XDECREF(good);
  return good == NULL ? NULL : data_list(have, place, rebuilt, h->k);
}

/* data_of(codec, shards: tuple, indices: tuple) -> list of the k data shards: given ones, or new
 * ones of type bytes. shards: k of them, with their indices. */
static PyObject *data_of(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 3) ? handle_of(given[0]) : NULL;
  int place[GFSMITH_MAX_SHARDS];
  if (h == NULL)
    return NULL;
  Py_ssize_t here = PyTuple_Size(given[1]), indices = here < 0 ? here : PyTuple_Size(given[2]);
  if (indices < 0)
    return NULL;
  if (here != (Py_ssize_t)h->k || indices != here) {
    raise_status(GFSMITH_EINVAL, "%zd shards and %zd indices, must be %u", here, indices, h->k);
    return NULL;
  }
  if (!places_of(h, given[2], place))
    return NULL;
  shards s;
  PyObject *result = NULL, *rebuilt = PyList_New(0);
  if (shards_begin(&s, 2 * h->k) && rebuilt != NULL)
    result = data_from(h, &s, given[1], place, rebuilt);
  shards_end(&s);
  Py_XDECREF(rebuilt);
  return result;
}

bool index_of(PyObject *object, const char *name, unsigned k, unsigned *index) {
  int overflow;
  long value = PyLong_AsLongAndOverflow(object, &overflow);
  if (value == -1 && PyErr_Occurred())
    return false;
  *index = (unsigned)value;
  return (value >= 0 && value < (long)k) ||
         raise_status(GFSMITH_EINVAL, "%s: %R, must be a data shard, 0 to %u", name, object, k - 1);
}

/* append(codec, index, data, parity, first) */
static PyObject *append(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 5) ? handle_of(given[0]) : NULL;
  unsigned index;
  if (h == NULL || !index_of(given[1], "index", h->k, &index))
    return NULL;
  int first = PyObject_IsTrue(given[4]);
  shards s;
  PyObject *result = NULL;
  if (shards_begin(&s, 1 + h->m) && first >= 0 && shards_add_one(&s, given[2], "data", READ) &&
      shards_add_all(&s, given[3], "parity", h->m, WRITE) && ready(h, &s)) {
    gfsmith_status status;
    RUN(&s, status = gfsmith_append_parallel(h->codec, h->executor, (size_t)s.len, index,
                                             s.pointers[0], s.pointers + 1, first));
    result = done(status, "append");
  }
  shards_end(&s);
  return result;
}

/* The update itself, after shards_begin for `changed` shards. */
static PyObject *update_by(const handle *h, shards *s, PyObject *indices, PyObject *deltas,
                           PyObject *parity, unsigned changed) {
  unsigned *which = PyMem_Malloc(changed * sizeof *which + 1);
  if (which == NULL)
    return PyErr_NoMemory();
  PyObject *result = NULL;
  bool good = true;
  for (unsigned i = 0; good && i < changed; i++)
    good = index_of(PyTuple_GetItem(indices, i), "index", h->k, &which[i]);
  if (good && shards_add_all(s, deltas, "delta", changed, READ) &&
      shards_add_all(s, parity, "parity", h->m, WRITE) && ready(h, s)) {
    gfsmith_status status;
    RUN(s, status = gfsmith_update_many_parallel(h->codec, h->executor, (size_t)s->len, changed,
                                                 which, (const uint8_t *const *)s->pointers,
                                                 s->pointers + changed));
    result = done(status, "update");
  }
  PyMem_Free(which);
  return result;
}

/* update(codec, indices: tuple, deltas, parity) */
static PyObject *update(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 4) ? handle_of(given[0]) : NULL;
  Py_ssize_t changed = h == NULL ? -1 : PyTuple_Size(given[1]);
  if (changed < 0)
    return NULL;
  if (changed > INT_MAX / 2) {
    raise_status(GFSMITH_EINVAL, "indices: %zd are too many", changed);
    return NULL;
  }
  shards s;
  PyObject *result = NULL;
  if (shards_begin(&s, (size_t)changed + h->m))
    result = update_by(h, &s, given[1], given[2], given[3], (unsigned)changed);
  shards_end(&s);
  return result;
}

bool too_many(unsigned n, unsigned m, const bool *present) {
  unsigned missing = 0;
  for (unsigned i = 0; i < n; i++)
    missing += !present[i];
  return missing > m;
}

/* reconstruct(codec, shards, present, wanted) */
static PyObject *reconstruct(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 4) ? handle_of(given[0]) : NULL;
  bool present[GFSMITH_MAX_SHARDS], wanted[GFSMITH_MAX_SHARDS];
  use uses[GFSMITH_MAX_SHARDS];
  unsigned n = h == NULL ? 0 : h->k + h->m;
  if (h == NULL || !flags_of(given[2], "present", n, present) ||
      !flags_of(given[3], "wanted", n, wanted))
    return NULL;
  if (too_many(n, h->m, present))
    return done(GFSMITH_ETOOMANY, "reconstruct");
  uses_of(n, present, wanted, uses);
  shards s;
  PyObject *result = NULL;
  if (shards_begin(&s, n) && shards_add(&s, given[1], "shards", n, uses) && ready(h, &s)) {
    gfsmith_status status;
    RUN(&s, status = gfsmith_reconstruct_parallel(
                h->codec, h->executor, s.len > 0 ? (size_t)s.len : 0, s.pointers, present, wanted));
    result = done(status, "reconstruct");
  }
  shards_end(&s);
  return result;
}

/* check(codec, shards) -> bool */
static PyObject *check(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 2) ? handle_of(given[0]) : NULL;
  if (h == NULL)
    return NULL;
  shards s;
  PyObject *result = NULL;
  unsigned n = h->k + h->m;
  if (shards_begin(&s, n) && shards_add_all(&s, given[1], "shards", n, READ) && ready(h, &s)) {
    gfsmith_status status;
    bool ok = false;
    RUN(&s, status = gfsmith_check_parallel(h->codec, h->executor, (size_t)s.len,
                                            (const uint8_t *const *)s.pointers, &ok));
    result = status == GFSMITH_OK ? PyBool_FromLong(ok) : done(status, "check");
  }
  shards_end(&s);
  return result;
}

/* Get the argument `where` of locate or `found` of correct: len numbers. */
static bool numbers_of(PyObject *object, const char *name, const shards *s, Py_buffer *view) {
  if (!shards_view(object, (origin){name, -1, WRITE}, 1, "H", 2, view))
    return false;
  bool good = view->shape[0] == s->len ||
              raise_status(GFSMITH_EINVAL, "%s: %zd numbers for shards of %zd bytes", name,
                           view->shape[0], s->len);
  if (good && (uintptr_t)view->buf % sizeof(uint16_t) != 0)
    good = raise_status(GFSMITH_EINVAL, "%s: numbers of two bytes must begin at an even address",
                        name);
  good = good && shards_apart_from(s, name, view);
  if (!good)
    PyBuffer_Release(view);
  return good;
}

static PyObject *list_of(const size_t *counts, unsigned n) {
  PyObject *result = PyList_New(0);
  for (unsigned i = 0; result != NULL && i < n; i++) {
    PyObject *number = PyLong_FromSize_t(counts[i]);
    if (number == NULL || PyList_Append(result, number) != 0)
      Py_CLEAR(result);
    Py_XDECREF(number);
  }
  return result;
}

static PyObject *located(const handle *h, const shards *s, uint16_t *where) {
  size_t counts[GFSMITH_MAX_SHARDS + 2] = {0};
  gfsmith_status status;
  RUN(s, status = gfsmith_locate(h->codec, (size_t)s->len, (const uint8_t *const *)s->pointers,
                                 counts, where));
  return status == GFSMITH_OK ? list_of(counts, h->k + h->m + 2) : done(status, "locate");
}

/* locate(codec, shards, where) -> counts */
static PyObject *locate(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 3) ? handle_of(given[0]) : NULL;
  if (h == NULL)
    return NULL;
  shards s;
  PyObject *result = NULL;
  unsigned n = h->k + h->m;
  if (shards_begin(&s, n) && shards_add_all(&s, given[1], "shards", n, READ) && ready(h, &s)) {
    Py_buffer where;
    if (given[2] == Py_None)
      result = located(h, &s, NULL);
    else if (numbers_of(given[2], "where", &s, &where)) {
      result = located(h, &s, where.buf);
      PyBuffer_Release(&where);
    }
  }
  shards_end(&s);
  return result;
}

static PyObject *corrected(const handle *h, const shards *s, const bool *present, uint16_t *found) {
  size_t counts[GFSMITH_MAX_SHARDS + 2] = {0};
  gfsmith_status status;
  size_t len = s->len > 0 ? (size_t)s->len : 0;
  RUN(s, status = gfsmith_correct(h->codec, len, s->pointers, present, counts, found));
  return status == GFSMITH_OK ? list_of(counts, h->k + h->m + 2) : done(status, "correct");
}

/* correct(codec, shards, present, found) -> counts */
static PyObject *correct(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 4) ? handle_of(given[0]) : NULL;
  bool present[GFSMITH_MAX_SHARDS];
  use uses[GFSMITH_MAX_SHARDS];
  unsigned n = h == NULL ? 0 : h->k + h->m;
  if (h == NULL || !flags_of(given[2], "present", n, present))
    return NULL;
  for (unsigned i = 0; i < n; i++)
    uses[i] = present[i] ? WRITE : SKIP;
  shards s;
  PyObject *result = NULL;
  if (shards_begin(&s, n) && shards_add(&s, given[1], "shards", n, uses) && ready(h, &s)) {
    Py_buffer found;
    if (given[3] == Py_None)
      result = corrected(h, &s, present, NULL);
    else if (numbers_of(given[3], "found", &s, &found)) {
      result = corrected(h, &s, present, found.buf);
      PyBuffer_Release(&found);
    }
  }
  shards_end(&s);
  return result;
}

PyMethodDef call_methods[] = {
    FAST(encode),  FAST(encoded), FAST(append), FAST(update),  FAST(reconstruct),
    FAST(data_of), FAST(check),   FAST(locate), FAST(correct), {NULL, NULL, 0, NULL},
};
