/* plans.c: gfsmith_plan.h over Python's buffers; see module.c. */
#include "gfsmith_plan.h"
#include "module.h"

#define PLAN "gfsmith.plan"

/* The contents of a plan's capsule. Immutable. */
typedef struct plan_handle {
  gfsmith_plan *plan;
  handle shape; /* without a codec */
} plan_handle;

static void release(PyObject *capsule) {
  plan_handle *p = PyCapsule_GetPointer(capsule, PLAN);
  gfsmith_plan_destroy(p->plan);
  PyMem_Free(p);
}

/* plan(codec, present, wanted) -> capsule */
static PyObject *plan(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 3) ? handle_of(given[0]) : NULL;
  bool present[GFSMITH_MAX_SHARDS], wanted[GFSMITH_MAX_SHARDS];
  unsigned n = h == NULL ? 0 : h->k + h->m;
  if (h == NULL || !flags_of(given[1], "present", n, present) ||
      !flags_of(given[2], "wanted", n, wanted))
    return NULL;
  plan_handle *p = PyMem_Malloc(sizeof *p);
  if (p == NULL)
    return PyErr_NoMemory();
  *p = (plan_handle){.shape = {.k = h->k, .m = h->m, .unit = h->unit}};
  gfsmith_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = gfsmith_plan_create(&p->plan, h->codec, present, wanted);
  Py_END_ALLOW_THREADS;
  PyObject *capsule = NULL;
  if (status != GFSMITH_OK)
    done(status, "plan");
  else
    capsule = PyCapsule_New(p, PLAN, release);
  if (capsule == NULL) {
    gfsmith_plan_destroy(p->plan);
    PyMem_Free(p);
  }
  return capsule;
}

/* plan_of(plan) -> reads, targets, matrix, is_least */
static PyObject *plan_of(PyObject *module, PyObject *capsule) {
  (void)module;
  const plan_handle *p = PyCapsule_GetPointer(capsule, PLAN);
  if (p == NULL)
    return NULL;
  unsigned reads, targets;
  const uint8_t *from = gfsmith_plan_reads(p->plan, &reads);
  const uint8_t *to = gfsmith_plan_targets(p->plan, &targets);
  const uint8_t *matrix = gfsmith_plan_matrix(p->plan);
  return Py_BuildValue("(y#y#y#N)", (const char *)from, (Py_ssize_t)reads, (const char *)to,
                       (Py_ssize_t)targets, (const char *)matrix, (Py_ssize_t)reads * targets,
                       PyBool_FromLong(gfsmith_plan_is_least(p->plan)));
}

/* plan_run(plan, shards) */
static PyObject *plan_run(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const plan_handle *p = arguments(count, 2) ? PyCapsule_GetPointer(given[0], PLAN) : NULL;
  if (p == NULL)
    return NULL;
  use uses[GFSMITH_MAX_SHARDS] = {SKIP};
  unsigned reads, targets, n = p->shape.k + p->shape.m;
  const uint8_t *from = gfsmith_plan_reads(p->plan, &reads);
  const uint8_t *to = gfsmith_plan_targets(p->plan, &targets);
  for (unsigned i = 0; i < reads; i++)
    uses[from[i]] = READ;
  for (unsigned i = 0; i < targets; i++)
    uses[to[i]] = WRITE;
  shards s;
  PyObject *result = NULL;
  if (shards_begin(&s, n) && shards_add(&s, given[1], "shards", n, uses) && ready(&p->shape, &s)) {
    gfsmith_status status;
    RUN(&s, status = gfsmith_plan_run(p->plan, s.len > 0 ? (size_t)s.len : 0, s.pointers));
    result = done(status, "plan");
  }
  shards_end(&s);
  return result;
}

/* determined(codec, present) -> bytes, a 0 or 1 for each shard */
static PyObject *determined(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  const handle *h = arguments(count, 2) ? handle_of(given[0]) : NULL;
  bool present[GFSMITH_MAX_SHARDS], found[GFSMITH_MAX_SHARDS];
  unsigned n = h == NULL ? 0 : h->k + h->m;
  if (h == NULL || !flags_of(given[1], "present", n, present))
    return NULL;
  gfsmith_status status = gfsmith_determined(h->codec, present, found);
  if (status != GFSMITH_OK)
    return done(status, "determined");
  char flags[GFSMITH_MAX_SHARDS];
  for (unsigned i = 0; i < n; i++)
    flags[i] = found[i];
  return PyBytes_FromStringAndSize(flags, (Py_ssize_t)n);
}

PyMethodDef plan_methods[] = {
    FAST(plan),
    {"plan_of", plan_of, METH_O, NULL},
    FAST(plan_run),
    FAST(determined),
    {NULL, NULL, 0, NULL},
};
