/* module.c: gfsmith.codec._native, the functions of gfsmith.h over Python's buffers.
 *
 * Private: the public interface with its documentation is Codec and the other classes in
 * gfsmith.codec; _native.pyi has the types. For any arguments, no memory outside of buffers is read
 * or written.
 */
#include "module.h"

#include "gfsmith_wide.h"

bool arguments(Py_ssize_t given, Py_ssize_t expected) {
  if (given != expected)
    PyErr_Format(PyExc_TypeError, "%zd arguments, must be %zd", given, expected);
  return given == expected;
}

bool length_fits(const handle *h, Py_ssize_t len) {
  return len <= 0 || (size_t)len % h->unit == 0 ||
         raise_status(GFSMITH_EINVAL,
                      "shards of %zd bytes: in packet layout, must be a multiple of %zu", len,
                      h->unit);
}

bool ready(const handle *h, const shards *s) { return length_fits(h, s->len) && shards_apart(s); }

PyObject *done(gfsmith_status status, const char *what) {
  if (status == GFSMITH_OK)
    return Py_NewRef(Py_None);
  raise_status(status, "%s: %s", what, gfsmith_strerror(status));
  return NULL;
}

static bool flag_of(PyObject *item, const char *name, unsigned i, bool *flag) {
  int is = PyObject_RichCompareBool(item, Py_True, Py_EQ);
  int isnt = is == 0 ? PyObject_RichCompareBool(item, Py_False, Py_EQ) : 0;
  *flag = is == 1;
  if (is == 0 && isnt == 0)
    return raise_status(GFSMITH_EINVAL, "%s[%u]: %R, must be True or False", name, i, item);
  return is >= 0 && isnt >= 0;
}

bool flags_of(PyObject *object, const char *name, unsigned n, bool *flags) {
  PyObject *items = PySequence_Check(object) ? PySequence_Tuple(object) : NULL;
  if (items == NULL) {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_TypeError, "%s: %R is not a sequence of True and False", name,
                   (PyObject *)Py_TYPE(object));
    return false;
  }
  bool good = PyTuple_Size(items) == (Py_ssize_t)n ||
              raise_status(GFSMITH_EINVAL, "%s: %zd values, must be %u: True or False for a shard",
                           name, PyTuple_Size(items), n);
  for (unsigned i = 0; good && i < n; i++)
    good = flag_of(PyTuple_GetItem(items, i), name, i, &flags[i]);
  Py_DECREF(items);
  return good;
}

void uses_of(unsigned n, const bool *present, const bool *wanted, use *uses) {
  for (unsigned i = 0; i < n; i++)
    uses[i] = present[i] ? READ : wanted[i] ? WRITE : SKIP;
}

size_t release_from = 32 << 10;

static PyObject *set_release(PyObject *module, PyObject *least) {
  (void)module;
  size_t bytes = PyLong_AsSize_t(least);
  if (bytes == (size_t)-1 && PyErr_Occurred())
    return NULL;
  release_from = bytes;
  Py_RETURN_NONE;
}

static PyObject *isa(PyObject *module, PyObject *none) {
  (void)module;
  (void)none;
  return PyUnicode_FromString(gfsmith_isa());
}

static PyObject *set_isa(PyObject *module, PyObject *name) {
  (void)module;
  PyObject *bytes = PyUnicode_AsUTF8String(name);
  if (bytes == NULL)
    return NULL;
  gfsmith_status status = gfsmith_set_isa(PyBytes_AsString(bytes));
  Py_DECREF(bytes);
  return PyLong_FromLong(status);
}

/* The instruction sets of this build for this machine, best first. */
static const char *const isas[] = {
#define GFSMITH_ISA(name, format, features) #name,
#include "isas.inc"
#undef GFSMITH_ISA
};

static PyMethodDef *const parts[] = {
    codec_methods, call_methods,   batch_methods,  plan_methods,  raid_methods,     device_methods,
    graph_methods, timing_methods, stream_methods, words_methods, checksum_methods, wide_methods};

static int execute(PyObject *module) {
  PyObject *names = PyTuple_New(sizeof isas / sizeof *isas);
  for (size_t i = 0; names != NULL && i < sizeof isas / sizeof *isas; i++) {
    PyObject *name = PyUnicode_FromString(isas[i]);
    if (name == NULL || PyTuple_SetItem(names, (Py_ssize_t)i, name) != 0)
      Py_CLEAR(names);
  }
  int status = names == NULL ? -1 : PyModule_AddObjectRef(module, "ISAS", names);
  Py_XDECREF(names);
  if (status == 0)
    status = PyModule_AddIntConstant(module, "MAX_WIDE_SHARDS", GFSMITH_WIDE_MAX_SHARDS);
  for (size_t i = 0; status == 0 && i < sizeof parts / sizeof *parts; i++)
    status = PyModule_AddFunctions(module, parts[i]);
  return status;
}

static PyMethodDef methods[] = {
    {"isa", isa, METH_NOARGS, NULL},
    {"set_isa", set_isa, METH_O, NULL},
    {"set_release", set_release, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)(uintptr_t)execute},
    {0, NULL},
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "gfsmith.codec._native",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
