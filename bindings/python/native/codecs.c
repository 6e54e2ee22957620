/* codecs.c: codecs as capsules; see module.c. */
#include "module.h"

#define CODEC "gfsmith.codec"
#define POOL "gfsmith.pool"

const handle *handle_of(PyObject *capsule) { return PyCapsule_GetPointer(capsule, CODEC); }

static void release(PyObject *capsule) {
  handle *h = PyCapsule_GetPointer(capsule, CODEC);
  gfsmith_codec_destroy(h->codec);
  Py_XDECREF(h->pool);
  PyMem_Free(h);
}

static void release_pool(PyObject *capsule) {
  gfsmith_pool_destroy(PyCapsule_GetPointer(capsule, POOL));
}

/* pool(threads) -> capsule */
static PyObject *pool(PyObject *module, PyObject *given) {
  (void)module;
  int threads;
  if (!PyArg_ParseTuple(given, "i", &threads))
    return NULL;
  gfsmith_pool *made = NULL;
  gfsmith_status status = GFSMITH_EINVAL;
  if (threads >= 0)
    status = gfsmith_pool_create(&made, (unsigned)threads);
  if (status != GFSMITH_OK)
    return done(status, "threads");
  PyObject *capsule = PyCapsule_New(made, POOL, release_pool);
  if (capsule == NULL)
    gfsmith_pool_destroy(made);
  return capsule;
}

const gfsmith_executor *executor_of(PyObject *capsule) {
  gfsmith_pool *found = PyCapsule_GetPointer(capsule, POOL);
  return found != NULL ? gfsmith_pool_executor(found) : NULL;
}

/* share(codec, pool): the calls of a codec that no other thread uses yet are shared by a pool. */
static PyObject *share(PyObject *module, PyObject *given) {
  (void)module;
  PyObject *codec, *threads;
  if (!PyArg_ParseTuple(given, "OO", &codec, &threads))
    return NULL;
  handle *h = PyCapsule_GetPointer(codec, CODEC);
  const gfsmith_executor *executor = h != NULL ? executor_of(threads) : NULL;
  if (executor == NULL)
    return NULL;
  PyObject *before = h->pool;
  h->pool = Py_NewRef(threads);
  Py_XDECREF(before);
  h->executor = executor;
  Py_RETURN_NONE;
}

/* Create a capsule for a new codec; the capsule owns the codec, or it is freed on failure. */
static PyObject *capsule_of(gfsmith_status status, gfsmith_codec *codec, unsigned k, unsigned m,
                            int hint, Py_ssize_t packet) {
  if (status == GFSMITH_OK)
    status = gfsmith_codec_hint(codec, (gfsmith_hint)hint);
  if (status == GFSMITH_OK)
    status = gfsmith_codec_packets(codec, (size_t)packet);
  handle *h = PyMem_Malloc(sizeof *h);
  PyObject *capsule = NULL;
  if (status != GFSMITH_OK)
    done(status, "codec");
  else if (h == NULL)
    PyErr_NoMemory();
  else {
    *h = (handle){.codec = codec, .k = k, .m = m, .unit = packet > 0 ? 8 * (size_t)packet : 1};
    capsule = PyCapsule_New(h, CODEC, release);
  }
  if (capsule == NULL) {
    PyMem_Free(h);
    gfsmith_codec_destroy(codec);
  }
  return capsule;
}

static PyObject *create(PyObject *module, PyObject *given) {
  (void)module;
  const char *code;
  int k, m, hint;
  Py_ssize_t packet;
  if (!PyArg_ParseTuple(given, "siiin", &code, &k, &m, &hint, &packet))
    return NULL;
  gfsmith_codec *codec = NULL;
  gfsmith_status status = gfsmith_codec_create(&codec, code, (unsigned)k, (unsigned)m);
  return capsule_of(status, codec, (unsigned)k, (unsigned)m, hint, packet);
}

static PyObject *create_lrc(PyObject *module, PyObject *given) {
  (void)module;
  int k, l, r, hint;
  Py_ssize_t packet;
  if (!PyArg_ParseTuple(given, "iiiin", &k, &l, &r, &hint, &packet))
    return NULL;
  gfsmith_codec *codec = NULL;
  gfsmith_status status = gfsmith_codec_create_lrc(&codec, (unsigned)k, (unsigned)l, (unsigned)r);
  return capsule_of(status, codec, (unsigned)k, (unsigned)(l + r), hint, packet);
}

static PyObject *create_matrix(PyObject *module, PyObject *given) {
  (void)module;
  int polynomial, k, m, hint;
  const char *matrix;
  Py_ssize_t size, packet;
  if (!PyArg_ParseTuple(given, "iiiy#in", &polynomial, &k, &m, &matrix, &size, &hint, &packet))
    return NULL;
  if (k < 1 || m < 1 || k > GFSMITH_MAX_SHARDS || m > GFSMITH_MAX_SHARDS || size != k * m) {
    raise_status(GFSMITH_EINVAL, "matrix: %zd elements for %d rows of %d", size, m, k);
    return NULL;
  }
  gfsmith_codec *codec = NULL;
  gfsmith_status status = gfsmith_codec_create_matrix(&codec, (unsigned)polynomial, (unsigned)k,
                                                      (unsigned)m, (const uint8_t *)matrix);
  return capsule_of(status, codec, (unsigned)k, (unsigned)m, hint, packet);
}

PyMethodDef codec_methods[] = {
    {"create", create, METH_VARARGS, NULL},
    {"create_lrc", create_lrc, METH_VARARGS, NULL},
    {"create_matrix", create_matrix, METH_VARARGS, NULL},
    {"pool", pool, METH_VARARGS, NULL},
    {"share", share, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
