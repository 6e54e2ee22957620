/* streams.c: gfsmith_shards.h over callables of Python; see gfsmith/codec/streams.py.
 *
 * The GIL is released during a call and taken in each callback. A call uses one thread, so an
 * exception of a callback can be kept until its end. Callbacks get views of objects of Python, from
 * and to which the bytes are copied: a view of the library's memory could outlive it. */
#include "module.h"

#include "gfsmith_shards.h"

#include <string.h>

/* The state that the callbacks of one call share. */
typedef struct call {
  PyThreadState *thread; /* of the call, also if it is one of a subinterpreter */
  PyObject *progress;    /* a callable, or None */
  PyObject *error[3];    /* the first exception: type, value, traceback */
} call;

typedef struct end {
  call *own;
  PyObject *function; /* read_into(buffer) -> int, or write(buffer) */
  bool keeps;         /* an OSError ends the call; otherwise the stream counts as damaged */
} end;

/* Keep the current exception. */
static void keep(call *own) {
  if (own->error[0] == NULL)
    PyErr_Fetch(&own->error[0], &own->error[1], &own->error[2]);
  else
    PyErr_Clear();
}

static void take_gil(call *own) { PyEval_RestoreThread(own->thread); }

static void release_gil(call *own) { own->thread = PyEval_SaveThread(); }

/* The result of a call of the function with a view of an object; a new reference or NULL. */
static PyObject *call_with(PyObject *function, PyObject *bytes) {
  PyObject *view = PyMemoryView_FromObject(bytes);
  PyObject *result = view == NULL ? NULL : PyObject_CallFunctionObjArgs(function, view, NULL);
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  /* The view is valid during the callback only. */
  PyObject *done = view == NULL ? NULL : PyObject_CallMethod(view, "release", NULL);
  if (done == NULL && type == NULL)
    Py_CLEAR(result);
  else if (done == NULL)
    PyErr_Clear();
  if (type != NULL)
    PyErr_Restore(type, value, trace);
  Py_XDECREF(done);
  Py_XDECREF(view);
  return result;
}

/* Copy the bytes that a stream has read. Their number, or -1. */
static Py_ssize_t take_bytes(PyObject *result, PyObject *bytes, void *to, size_t size) {
  Py_ssize_t n = PyLong_AsSsize_t(result);
  if (PyErr_Occurred())
    return -1;
  if (n < 0 || (size_t)n > size) {
    PyErr_Format(PyExc_OSError, "a stream has read %zd bytes into a buffer of %zu", n, size);
    return -1;
  }
  if (n > PyByteArray_Size(bytes)) {
    PyErr_SetString(PyExc_BufferError, "a stream has changed the size of the buffer");
    return -1;
  }
  memcpy(to, PyByteArray_AsString(bytes), (size_t)n);
  return n;
}

static ptrdiff_t read_end(void *context, void *to, size_t size) {
  end *from = context;
  take_gil(from->own);
  PyObject *bytes = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
  PyObject *result = bytes == NULL ? NULL : call_with(from->function, bytes);
  Py_ssize_t n = result == NULL ? -1 : take_bytes(result, bytes, to, size);
  Py_XDECREF(result);
  Py_XDECREF(bytes);
  if (n < 0 && !from->keeps && PyErr_ExceptionMatches(PyExc_OSError))
    PyErr_Clear();
  else if (n < 0 || PyErr_Occurred())
    keep(from->own);
  release_gil(from->own);
  return n;
}

static bool write_end(void *context, const void *from, size_t size) {
  end *to = context;
  take_gil(to->own);
  PyObject *bytes = PyBytes_FromStringAndSize(from, (Py_ssize_t)size);
  PyObject *result = bytes == NULL ? NULL : call_with(to->function, bytes);
  bool good = result != NULL;
  Py_XDECREF(result);
  Py_XDECREF(bytes);
  if (!good)
    keep(to->own);
  release_gil(to->own);
  return good;
}

static bool progress(void *context, uint64_t done) {
  call *own = context;
  take_gil(own);
  if (PyErr_CheckSignals() != 0)
    keep(own);
  if (own->error[0] == NULL && own->progress != Py_None) {
    PyObject *result = PyObject_CallFunction(own->progress, "K", (unsigned long long)done);
    if (result == NULL)
      keep(own);
    Py_XDECREF(result);
  }
  bool go_on = own->error[0] == NULL;
  release_gil(own);
  return go_on;
}

/* None or the exception of a callback. */
static bool restore(call *own) {
  if (own->error[0] == NULL)
    return true;
  PyErr_Restore(own->error[0], own->error[1], own->error[2]);
  return false;
}

/* Fill `ends` from a tuple of callables; None: no function. The number, or -1. */
static int ends_of(PyObject *functions, call *own, bool keeps, end *ends) {
  Py_ssize_t count = PyTuple_Check(functions) ? PyTuple_Size(functions) : -1;
  if (count < 0 || count > GFSMITH_MAX_SHARDS) {
    raise_status(GFSMITH_EINVAL, "%zd streams, must be at most %d", count, GFSMITH_MAX_SHARDS);
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; i++)
    ends[i] = (end){own, PyTuple_GetItem(functions, i), keeps};
  return (int)count;
}

static bool header_of(PyObject *raw, gfsmith_shards_header *header) {
  const char *why = NULL;
  char *bytes;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(raw, &bytes, &size) != 0)
    return false;
  int status = gfsmith_shards_header_read(header, (const uint8_t *)bytes, (size_t)size, &why);
  return status == GFSMITH_OK || raise_status(status, "%s", why);
}

/* header(code, k, m, l, block, content, generation, set_id, name) -> bytes */
static PyObject *streams_header(PyObject *module, PyObject *given) {
  (void)module;
  const char *code, *id;
  char *name;
  Py_ssize_t id_size, name_size;
  unsigned long long generation;
  gfsmith_shards_header h;
  uint8_t raw[GFSMITH_SHARDS_HEADER];
  memset(&h, 0, sizeof h);
  if (!PyArg_ParseTuple(given, "sIIIIIKy#y#", &code, &h.k, &h.m, &h.l, &h.block, &h.content,
                        &generation, &id, &id_size, &name, &name_size))
    return NULL;
  h.generation = generation;
  if (id_size == sizeof h.set_id)
    memcpy(h.set_id, id, sizeof h.set_id);
  bool fits = strlen(code) < sizeof h.code && (size_t)name_size < sizeof h.name &&
              memchr(name, 0, (size_t)name_size) == NULL && id_size == sizeof h.set_id;
  if (!fits) {
    raise_status(GFSMITH_EINVAL, "code, name or set_id: the set id has 16 bytes, the code at most "
                                 "31, the name at most 229, without a zero");
    return NULL;
  }
  memcpy(h.code, code, strlen(code));
  memcpy(h.name, name, (size_t)name_size);
  const char *fault = gfsmith_shards_header_fault(&h);
  if (fault != NULL) {
    raise_status(GFSMITH_EINVAL, "%s", fault);
    return NULL;
  }
  gfsmith_shards_header_write(&h, raw);
  return PyBytes_FromStringAndSize((const char *)raw, sizeof raw);
}

/* split(header, read, writes, progress) -> (status, length) */
static PyObject *streams_split(PyObject *module, PyObject *given) {
  (void)module;
  PyObject *raw, *function, *writes;
  call own = {0};
  end from, to[GFSMITH_MAX_SHARDS];
  gfsmith_shards_header header;
  gfsmith_shards_sink sinks[GFSMITH_MAX_SHARDS];
  uint64_t length = 0;
  if (!PyArg_ParseTuple(given, "OOOO", &raw, &function, &writes, &own.progress) ||
      !header_of(raw, &header))
    return NULL;
  int count = ends_of(writes, &own, true, to);
  if (count >= 0 && (unsigned)count != header.k + header.m)
    raise_status(GFSMITH_EINVAL, "%d shards, must be k + m = %u", count, header.k + header.m);
  if (PyErr_Occurred())
    return NULL;
  from = (end){&own, function, true};
  for (int i = 0; i < count; i++)
    sinks[i] = (gfsmith_shards_sink){write_end, &to[i]};
  gfsmith_shards_source source = {read_end, NULL, &from, -1};
  gfsmith_shards_control control = {.progress = progress, .progress_context = &own};
  release_gil(&own);
  int status = gfsmith_shards_split(&header, &source, sinks, &control, &length);
  take_gil(&own);
  return restore(&own) ? Py_BuildValue("iK", status, (unsigned long long)length) : NULL;
}

/* (source, header damaged, trailer damaged, too long, unreadable, read, bad blocks) of each shard.
 */
static PyObject *states_of(const gfsmith_shards_report *r) {
  unsigned count = r->header.k + r->header.m;
  PyObject *all = PyTuple_New((Py_ssize_t)count);
  for (unsigned i = 0; all != NULL && i < count; i++) {
    const gfsmith_shards_state *s = &r->shard[i];
    PyObject *one =
        Py_BuildValue("iiiiiiK", s->source, s->header_damaged, s->trailer_damaged, s->too_long,
                      s->unreadable, s->read, (unsigned long long)s->bad_blocks);
    if (one == NULL || PyTuple_SetItem(all, (Py_ssize_t)i, one) != 0)
      Py_CLEAR(all);
  }
  return all;
}

/* The report as a tuple: header or None, and the numbers. */
static PyObject *report_of(int status, const gfsmith_shards_report *r) {
  uint8_t raw[GFSMITH_SHARDS_HEADER];
  bool known = gfsmith_shards_header_write(&r->header, raw) == GFSMITH_OK;
  return Py_BuildValue("iy#KKy#KKN(ii)", status, known ? (const char *)raw : "",
                       (Py_ssize_t)(known ? sizeof raw : 0), (unsigned long long)r->length,
                       (unsigned long long)r->stripes, (const char *)r->original,
                       (Py_ssize_t)sizeof r->original, (unsigned long long)r->lost_stripes,
                       (unsigned long long)r->false_stripes, states_of(r), r->mixed[0],
                       r->mixed[1]);
}

/* read(reads, indices, original or None, writes or None, progress) -> the report */
static PyObject *streams_read(PyObject *module, PyObject *given) {
  (void)module;
  PyObject *reads, *indices, *original, *writes;
  static const gfsmith_shards_sink none;
  call own = {0};
  end from[GFSMITH_MAX_SHARDS], to[GFSMITH_MAX_SHARDS], out;
  gfsmith_shards_source sources[GFSMITH_MAX_SHARDS];
  gfsmith_shards_sink sinks[GFSMITH_MAX_SHARDS], sink = {write_end, &out};
  gfsmith_shards_report report = {0};
  int status;
  if (!PyArg_ParseTuple(given, "OOOOO", &reads, &indices, &original, &writes, &own.progress))
    return NULL;
  int count = ends_of(reads, &own, false, from);
  int wanted = count < 0 || writes == Py_None ? 0 : ends_of(writes, &own, true, to);
  for (int i = 0; i < count; i++) {
    PyObject *index = PyTuple_GetItem(indices, i);
    sources[i] = (gfsmith_shards_source){read_end, NULL, &from[i],
                                         index == NULL ? -1 : (int)PyLong_AsLong(index)};
  }
  if (count < 0 || wanted < 0 || PyErr_Occurred())
    return NULL;
  for (int i = 0; i < GFSMITH_MAX_SHARDS; i++)
    sinks[i] =
        i < wanted && to[i].function != Py_None ? (gfsmith_shards_sink){write_end, &to[i]} : none;
  out = (end){&own, original, true};
  gfsmith_shards_control control = {.progress = progress, .progress_context = &own};
  release_gil(&own);
  if (original != Py_None)
    status = gfsmith_shards_join(sources, (unsigned)count, &sink, &control, &report);
  else if (writes != Py_None)
    status = gfsmith_shards_repair(sources, (unsigned)count, sinks, &control, &report);
  else
    status = gfsmith_shards_verify(sources, (unsigned)count, &control, &report);
  take_gil(&own);
  if (count == 0)
    raise_status(GFSMITH_SHARDS_EFORMAT, "no streams");
  return count > 0 && restore(&own) ? report_of(status, &report) : NULL;
}

static PyObject *streams_strerror(PyObject *module, PyObject *status) {
  (void)module;
  long number = PyLong_AsLong(status);
  if (number == -1 && PyErr_Occurred())
    return NULL;
  return PyUnicode_FromString(gfsmith_shards_strerror((int)number));
}

PyMethodDef stream_methods[] = {
    {"streams_header", streams_header, METH_VARARGS, NULL},
    {"streams_split", streams_split, METH_VARARGS, NULL},
    {"streams_read", streams_read, METH_VARARGS, NULL},
    {"streams_strerror", streams_strerror, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
