/* raids.c: gfsmith_raid.h over Python's buffers; see module.c. */
#include "gfsmith_raid.h"
#include "module.h"

typedef gfsmith_status generator(unsigned k, size_t len, uint8_t *const *shards);
typedef gfsmith_status checker(unsigned k, size_t len, const uint8_t *const *shards, bool *ok);

#define MOST_PARITIES 3

static generator *const generators[] = {gfsmith_xor_gen, gfsmith_pq_gen, gfsmith_pqr_gen};
static checker *const checkers[] = {gfsmith_xor_check, gfsmith_pq_check, gfsmith_pqr_check};

/* Get the numbers of parities m and data shards k of a call; false with an exception. */
static bool shape_of(PyObject *parities, PyObject *shards_, unsigned *k, unsigned *m) {
  int overflow;
  long given = PyLong_AsLongAndOverflow(parities, &overflow);
  if (given == -1 && PyErr_Occurred())
    return false;
  if (given < 1 || given > MOST_PARITIES)
    return raise_status(GFSMITH_EINVAL, "parities: %R, must be 1, 2 or 3", parities);
  Py_ssize_t n = PyObject_Size(shards_);
  if (n < 0)
    return false;
  if (n <= given || n - given > GFSMITH_RAID_MAX_DATA)
    return raise_status(GFSMITH_EINVAL, "shards: %zd with %ld parities, must have 1 to %d data", n,
                        given, GFSMITH_RAID_MAX_DATA);
  *m = (unsigned)given;
  *k = (unsigned)(n - given);
  return true;
}

static PyObject *done_if(bool good, gfsmith_status status, const char *what) {
  return good ? done(status, what) : NULL;
}

/* raid_gen(parities, shards) */
static PyObject *raid_gen(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  unsigned k, m;
  if (!arguments(count, 2) || !shape_of(given[0], given[1], &k, &m))
    return NULL;
  use uses[GFSMITH_RAID_MAX_DATA + MOST_PARITIES];
  for (unsigned i = 0; i < k + m; i++)
    uses[i] = i < k ? READ : WRITE;
  shards s;
  gfsmith_status status = GFSMITH_OK;
  bool good = shards_begin(&s, k + m) && shards_add(&s, given[1], "shards", k + m, uses) &&
              shards_apart(&s);
  if (good)
    RUN(&s, status = generators[m - 1](k, (size_t)s.len, s.pointers));
  shards_end(&s);
  return done_if(good, status, "raid");
}

/* raid_check(parities, shards) -> bool */
static PyObject *raid_check(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  unsigned k, m;
  if (!arguments(count, 2) || !shape_of(given[0], given[1], &k, &m))
    return NULL;
  shards s;
  bool ok = false;
  gfsmith_status status = GFSMITH_OK;
  bool good = shards_begin(&s, k + m) && shards_add_all(&s, given[1], "shards", k + m, READ);
  if (good)
    RUN(&s, status = checkers[m - 1](k, (size_t)s.len, (const uint8_t *const *)s.pointers, &ok));
  shards_end(&s);
  if (good && status == GFSMITH_OK)
    return PyBool_FromLong(ok);
  return done_if(good, status, "raid");
}

/* raid_recover(parities, shards, present) */
static PyObject *raid_recover(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  (void)module;
  unsigned k, m;
  if (!arguments(count, 3) || !shape_of(given[0], given[1], &k, &m))
    return NULL;
  bool present[GFSMITH_RAID_MAX_DATA + MOST_PARITIES], all[GFSMITH_RAID_MAX_DATA + MOST_PARITIES];
  use uses[GFSMITH_RAID_MAX_DATA + MOST_PARITIES];
  if (!flags_of(given[2], "present", k + m, present))
    return NULL;
  for (unsigned i = 0; i < k + m; i++)
    all[i] = true;
  uses_of(k + m, present, all, uses);
  shards s;
  gfsmith_status status = GFSMITH_OK;
  bool good = shards_begin(&s, k + m) && shards_add(&s, given[1], "shards", k + m, uses) &&
              shards_apart(&s);
  if (good)
    RUN(&s, status = gfsmith_raid_recover(k, m, (size_t)s.len, s.pointers, present));
  shards_end(&s);
  return done_if(good, status, "raid");
}

PyMethodDef raid_methods[] = {
    FAST(raid_gen),
    FAST(raid_check),
    FAST(raid_recover),
    {NULL, NULL, 0, NULL},
};
