#include "shards.h"

#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "gfsmith.h"

/* The name of a shard in messages: "data[3]", or "delta". */
typedef struct label {
  char text[48];
} label;

static label label_of(origin from) {
  label made;
  if (from.index < 0)
    PyOS_snprintf(made.text, sizeof made.text, "%s", from.name);
  else
    PyOS_snprintf(made.text, sizeof made.text, "%s[%d]", from.name, from.index);
  return made;
}

bool shards_begin(shards *s, size_t room) {
  memset(s, 0, sizeof *s);
  s->len = -1;
  size_t each = sizeof *s->views + sizeof *s->written + sizeof *s->origins + sizeof *s->pointers;
  s->views = room < PY_SSIZE_T_MAX / each ? PyMem_Malloc(room * each + 1) : NULL;
  if (s->views == NULL) {
    PyErr_NoMemory();
    return false;
  }
  s->room = (unsigned)room;
  s->written = (written *)(s->views + room);
  s->pointers = (uint8_t **)(s->written + room);
  s->origins = (origin *)(s->pointers + room);
  return true;
}

void shards_end(shards *s) {
  for (unsigned i = 0; i < s->held; i++)
    PyBuffer_Release(&s->views[i]);
  PyMem_Free(s->views);
}

/* The marks of module struct for this machine's order of bytes in elements of this size. */
static const char *orders(Py_ssize_t size) {
  return size == 1 ? "@=<>!|" : PY_LITTLE_ENDIAN ? "@=<" : "@=>!";
}

/* Does the buffer have elements of one of these formats (module struct) and of this size? `from` is
 * for the message. */
static bool has_format(const Py_buffer *view, const char *formats, Py_ssize_t size, origin from) {
  const char *format = view->format == NULL ? "B" : view->format;
  const char *kind = *format != '\0' && strchr(orders(size), *format) != NULL ? format + 1 : format;
  if (view->itemsize == size && *kind != '\0' && kind[1] == '\0' && strchr(formats, *kind) != NULL)
    return true;
  PyErr_Format(PyExc_TypeError,
               "%s: elements are of format '%s' (%zd bytes), must be of format '%c' (%s)",
               label_of(from).text, format, view->itemsize, *formats,
               size == 1 ? "bytes, numpy.uint8" : "numpy.uint16 in this machine's order of bytes");
  return false;
}

/* Export a buffer with strides and format, writable if it will be written. */
static bool export(PyObject *object, origin from, Py_buffer *view) {
  if (!PyObject_CheckBuffer(object)) {
    PyErr_Format(PyExc_TypeError, "%s: %R is not a buffer of bytes", label_of(from).text,
                 (PyObject *)Py_TYPE(object));
    return false;
  }
  int flags = PyBUF_STRIDES | PyBUF_FORMAT;
  if (PyObject_GetBuffer(object, view, from.use == WRITE ? flags | PyBUF_WRITABLE : flags) == 0)
    return true;
  if (from.use != WRITE || PyErr_ExceptionMatches(PyExc_MemoryError))
    return false;
  /* The buffer may be read-only; if another export fails too, its exception has the reason. */
  PyErr_Clear();
  if (PyObject_GetBuffer(object, view, flags) != 0)
    return false;
  PyBuffer_Release(view);
  return raise_status(GFSMITH_EINVAL, "%s: %R is read-only and would be written",
                      label_of(from).text, (PyObject *)Py_TYPE(object));
}

Py_ssize_t shards_stride(const Py_buffer *view, int dimension) {
  if (view->strides != NULL)
    return view->strides[dimension];
  Py_ssize_t stride = view->itemsize;
  for (int inner = dimension + 1; inner < view->ndim; inner++)
    stride *= view->shape[inner];
  return stride;
}

static bool no_gaps(const Py_buffer *view, origin from) {
  int last = view->ndim - 1;
  if (view->shape[last] <= 1 || shards_stride(view, last) == view->itemsize)
    return true;
  return raise_status(GFSMITH_EINVAL, "%s: elements are %zd bytes apart, must be contiguous",
                      label_of(from).text, shards_stride(view, last));
}

bool shards_view(PyObject *object, origin from, int dimensions, const char *formats,
                 Py_ssize_t size, Py_buffer *view) {
  if (!export(object, from, view))
    return false;
  bool good = has_format(view, formats, size, from);
  if (good && view->ndim != dimensions)
    good = raise_status(GFSMITH_EINVAL, "%s: has %d dimensions, must have %d", label_of(from).text,
                        view->ndim, dimensions);
  good = good && no_gaps(view, from);
  if (!good)
    PyBuffer_Release(view);
  return good;
}

/* Append a shard; the first one determines the length. */
static bool append(shards *s, uint8_t *pointer, Py_ssize_t len, origin from) {
  if (s->len < 0) {
    s->len = len;
    s->measured = from;
  }
  if (len != s->len)
    return raise_status(GFSMITH_EINVAL, "%s: %zd bytes, %s has %zd", label_of(from).text, len,
                        label_of(s->measured).text, s->len);
  s->origins[s->count] = from;
  s->pointers[s->count++] = pointer;
  return true;
}

static void skip(shards *s, origin from) {
  s->origins[s->count] = from;
  s->pointers[s->count++] = NULL;
}

static bool add_buffer(shards *s, PyObject *object, origin from) {
  Py_buffer *view = &s->views[s->held];
  if (!shards_view(object, from, 1, "Bbc", 1, view))
    return false;
  s->held++;
  return append(s, view->buf, view->shape[0], from);
}

static bool wrong_count(const char *name, Py_ssize_t given, unsigned count) {
  return raise_status(GFSMITH_EINVAL, "%s: %zd shards, must be %u", name, given, count);
}

/* uses: one for each shard (step = 1), or a common one (step = 0). */
static bool add_rows(shards *s, PyObject *object, const char *name, unsigned count, const use *uses,
                     unsigned step) {
  origin whole = {name, -1, READ};
  for (unsigned i = 0; i < count; i++)
    whole.use = uses[i * step] == WRITE ? WRITE : whole.use;
  Py_buffer *view = &s->views[s->held];
  if (!export(object, whole, view))
    return false;
  s->held++;
  if (!has_format(view, "Bbc", 1, whole))
    return false;
  if (view->ndim != 2)
    return raise_status(GFSMITH_EINVAL,
                        "%s: one buffer of %d dimension%s, must be a sequence of %u buffers or an "
                        "array of %u rows",
                        name, view->ndim, view->ndim == 1 ? "" : "s", count, count);
  if (view->shape[0] != (Py_ssize_t)count)
    return wrong_count(name, view->shape[0], count);
  if (!no_gaps(view, whole))
    return false;
  if (count == 0) /* a view has the place of a shard */
    PyBuffer_Release(&s->views[--s->held]);
  for (unsigned i = 0; i < count; i++) {
    origin row = {name, (int)i, uses[i * step]};
    uint8_t *begin = (uint8_t *)view->buf + (Py_ssize_t)i * shards_stride(view, 0);
    if (row.use == SKIP)
      skip(s, row);
    else if (!append(s, begin, view->shape[1], row))
      return false;
  }
  return true;
}

static bool add_sequence(shards *s, PyObject *object, const char *name, unsigned count,
                         const use *uses, unsigned step) {
  if (PyUnicode_Check(object) || !PySequence_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s: %R is neither a sequence of buffers nor an array of rows",
                 name, (PyObject *)Py_TYPE(object));
    return false;
  }
  /* A new tuple, which no other thread can change. */
  PyObject *items = PySequence_Tuple(object);
  if (items == NULL)
    return false;
  bool good =
      PyTuple_Size(items) == (Py_ssize_t)count || wrong_count(name, PyTuple_Size(items), count);
  for (unsigned i = 0; good && i < count; i++) {
    origin from = {name, (int)i, uses[i * step]};
    if (from.use == SKIP)
      skip(s, from);
    else
      good = add_buffer(s, PyTuple_GetItem(items, i), from);
  }
  Py_DECREF(items);
  return good;
}

static bool add(shards *s, PyObject *object, const char *name, unsigned count, const use *uses,
                unsigned step) {
  return PyObject_CheckBuffer(object) ? add_rows(s, object, name, count, uses, step)
                                      : add_sequence(s, object, name, count, uses, step);
}

bool shards_add(shards *s, PyObject *object, const char *name, unsigned count, const use *uses) {
  return add(s, object, name, count, uses, 1);
}

bool shards_add_all(shards *s, PyObject *object, const char *name, unsigned count, use use_) {
  return add(s, object, name, count, &use_, 0);
}

bool shards_add_one(shards *s, PyObject *object, const char *name, use use_) {
  return add_buffer(s, object, (origin){name, -1, use_});
}

bool shards_add_new(shards *s, PyObject *list, unsigned count) {
  bool good = true;
  for (unsigned i = 0; good && i < count; i++) {
    PyObject *made = PyBytes_FromStringAndSize(NULL, s->len > 0 ? s->len : 0);
    good = made != NULL && PyList_Append(list, made) == 0 &&
           append(s, (uint8_t *)PyBytes_AsString(made), s->len, (origin){"new", (int)i, WRITE});
    Py_XDECREF(made);
  }
  return good;
}

static int by_address(const void *left, const void *right) {
  const written *a = left, *b = right;
  return a->begin != b->begin ? (a->begin < b->begin ? -1 : 1) : (a->index > b->index) - 1;
}

/* Collect the shards that are written, by address. */
static unsigned find_written(const shards *s) {
  unsigned count = 0;
  bool ascending = true;
  for (unsigned i = 0; i < s->count; i++)
    if (s->origins[i].use == WRITE) {
      uintptr_t begin = (uintptr_t)s->pointers[i];
      ascending = ascending && (count == 0 || s->written[count - 1].begin < begin);
      s->written[count++] = (written){begin, i};
    }
  if (!ascending)
    qsort(s->written, count, sizeof *s->written, by_address);
  return count;
}

/* Set the exception; false. */
static bool refuse_overlap(const shards *s, unsigned i, unsigned j) {
  return raise_status(GFSMITH_EINVAL, "%s overlaps %s", label_of(s->origins[i]).text,
                      label_of(s->origins[j]).text);
}

/* The number of written shards, of `count` > 0, that begin before an address. Without a branch that
 * depends on addresses. */
static unsigned before(const shards *s, unsigned count, uintptr_t address) {
  unsigned low = 0;
  for (unsigned left = count; left > 1; left -= left / 2)
    low += s->written[low + left / 2 - 1].begin < address ? left / 2 : 0;
  return low + (s->written[low].begin < address);
}

/* All shards have one length. So of the written shards that begin before the end of another shard,
 * the last one overlaps it if any does. */
bool shards_apart(const shards *s) {
  if (s->len <= 0)
    return true;
  const size_t len = (size_t)s->len;
  const unsigned count = find_written(s);
  for (unsigned n = 1; n < count; n++) {
    const written *first = &s->written[n - 1], *second = first + 1;
    if (second->begin - first->begin < len)
      return first->index < second->index ? refuse_overlap(s, first->index, second->index)
                                          : refuse_overlap(s, second->index, first->index);
  }
  for (unsigned j = 0; count > 0 && j < s->count; j++) {
    uintptr_t begin = (uintptr_t)s->pointers[j];
    unsigned n = s->origins[j].use == READ ? before(s, count, begin + len) : 0;
    if (n > 0 && begin < s->written[n - 1].begin + len)
      return refuse_overlap(s, s->written[n - 1].index, j);
  }
  return true;
}

bool shards_apart_from(const shards *s, const char *name, const Py_buffer *view) {
  uintptr_t mine = (uintptr_t)view->buf, len = s->len > 0 ? (uintptr_t)s->len : 0;
  for (unsigned i = 0; view->len > 0 && i < s->count; i++) {
    uintptr_t other = (uintptr_t)s->pointers[i];
    if (s->origins[i].use != SKIP && mine < other + len && other < mine + (uintptr_t)view->len)
      return raise_status(GFSMITH_EINVAL, "%s overlaps %s", name, label_of(s->origins[i]).text);
  }
  return true;
}
