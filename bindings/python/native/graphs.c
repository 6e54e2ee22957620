/* graphs.c: graphs as text (runtime/compose/src/graph_create.h); see module.c. */
#include "graph_create.h"

#include "module.h"

/* Parse a rank, which is an argument or (index >= 0) an element of one. */
static bool rank_of(PyObject *item, const char *name, int index, uint16_t *rank) {
  int overflow;
  long number = PyLong_AsLongAndOverflow(item, &overflow);
  if (number == -1 && PyErr_Occurred() != NULL)
    return false;
  char place[16] = "";
  if (index >= 0)
    PyOS_snprintf(place, sizeof place, "[%d]", index);
  if (number < 0 || number >= GFSMITH_RANKS_MAX)
    return raise_status(GFSMITH_EINVAL, "%s%s: %R is not a rank; allowed: 0..%d", name, place, item,
                        GFSMITH_RANKS_MAX - 1);
  *rank = (uint16_t)number;
  return true;
}

/* Parse n ranks from a sequence of numbers. */
static bool ranks_of(PyObject *object, const char *name, unsigned n, uint16_t *ranks) {
  PyObject *items = PySequence_Tuple(object);
  if (items == NULL)
    return false;
  bool good = PyTuple_Size(items) == (Py_ssize_t)n ||
              raise_status(GFSMITH_EINVAL, "%s: %zd ranks, must be %u: one for each shard", name,
                           PyTuple_Size(items), n);
  for (unsigned i = 0; good && i < n; i++)
    good = rank_of(PyTuple_GetItem(items, (Py_ssize_t)i), name, (int)i, &ranks[i]);
  Py_DECREF(items);
  return good;
}

/* Create the text of the graph for a request. */
static PyObject *text_of(const gfsmith_graph_request *request) {
  gfsmith_graph *graph;
  char reason[GFSMITH_REASON_MAX];
  int status = gfc_graph_create(&graph, request, reason);
  if (status != GFSMITH_OK) {
    raise_status(status, "%s", reason);
    return NULL;
  }
  size_t length = gfsmith_graph_json(graph, NULL, 0);
  PyObject *found = NULL;
  char *text = PyMem_Malloc(length + 1);
  if (text == NULL) {
    PyErr_NoMemory();
  } else {
    gfsmith_graph_json(graph, text, length + 1);
    found = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
  }
  PyMem_Free(text);
  gfsmith_graph_destroy(graph);
  return found;
}

/* graph_encode(codec, polynomial, scheme, holders, source) -> JSON */
static PyObject *graph_encode(PyObject *module, PyObject *given) {
  (void)module;
  PyObject *capsule, *holders, *from;
  const char *scheme;
  unsigned polynomial;
  uint16_t holder[GFSMITH_MAX_SHARDS], source;
  if (!PyArg_ParseTuple(given, "OIsOO", &capsule, &polynomial, &scheme, &holders, &from))
    return NULL;
  const handle *h = handle_of(capsule);
  if (h == NULL || !ranks_of(holders, "holders", h->k + h->m, holder) ||
      !rank_of(from, "source", -1, &source))
    return NULL;
  const gfsmith_graph_request request = {.scheme = scheme,
                                         .codec = h->codec,
                                         .k = h->k,
                                         .m = h->m,
                                         .polynomial = polynomial,
                                         .holder = holder,
                                         .source = source};
  return text_of(&request);
}

/* graph_decode(codec, polynomial, scheme, holders, present, wanted, sinks) -> JSON */
static PyObject *graph_decode(PyObject *module, PyObject *given) {
  (void)module;
  PyObject *capsule, *holders, *there, *goals, *sinks;
  const char *scheme;
  unsigned polynomial;
  uint16_t holder[GFSMITH_MAX_SHARDS], sink[GFSMITH_MAX_SHARDS];
  bool present[GFSMITH_MAX_SHARDS], wanted[GFSMITH_MAX_SHARDS];
  if (!PyArg_ParseTuple(given, "OIsOOOO", &capsule, &polynomial, &scheme, &holders, &there, &goals,
                        &sinks))
    return NULL;
  const handle *h = handle_of(capsule);
  unsigned n = h == NULL ? 0 : h->k + h->m;
  if (h == NULL || !ranks_of(holders, "holders", n, holder) || !ranks_of(sinks, "sinks", n, sink) ||
      !flags_of(there, "present", n, present) || !flags_of(goals, "wanted", n, wanted))
    return NULL;
  const gfsmith_graph_request request = {.scheme = scheme,
                                         .codec = h->codec,
                                         .k = h->k,
                                         .m = h->m,
                                         .polynomial = polynomial,
                                         .holder = holder,
                                         .present = present,
                                         .wanted = wanted,
                                         .sink = sink};
  return text_of(&request);
}

PyMethodDef graph_methods[] = {
    {"graph_encode", graph_encode, METH_VARARGS, NULL},
    {"graph_decode", graph_decode, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
