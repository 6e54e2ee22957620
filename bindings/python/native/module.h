/* module.h: common declarations of gfsmith.codec._native. */
#ifndef GFS_PYTHON_MODULE_H
#define GFS_PYTHON_MODULE_H

#include "errors.h"
#include "gfsmith_parallel.h"
#include "shards.h"

/* The contents of a codec's capsule. Immutable once the codec has its pool, if it gets one. */
typedef struct handle {
  gfsmith_codec *codec;
  unsigned k, m;
  size_t unit;                      /* lengths must be multiples of it: 1, or 8 packets */
  PyObject *pool;                   /* capsule, or NULL */
  const gfsmith_executor *executor; /* of the pool, or NULL */
} handle;

/* Calls that access fewer bytes keep the GIL: they take microseconds, but to get the GIL back from
 * a thread that computes in Python takes milliseconds. Read and written with the GIL. */
extern size_t release_from;

/* Run a statement, without the GIL if it accesses `shards` shards of len bytes that are long enough
 * together. */
#define RUN_ON(shards, len, statement)                                                             \
  do {                                                                                             \
    bool long_ = (shards) > 0 && (size_t)(len) >= release_from / (size_t)(shards);                 \
    PyThreadState *released = long_ ? PyEval_SaveThread() : NULL;                                  \
    statement;                                                                                     \
    if (released != NULL)                                                                          \
      PyEval_RestoreThread(released);                                                              \
  } while (0)

/* The same for all shards of a call. */
#define RUN(s, statement) RUN_ON((s)->count, (s)->len, statement)

/* The handle of a capsule; NULL with an exception for anything else. */
const handle *handle_of(PyObject *capsule);

/* The executor of a pool's capsule; NULL with an exception for anything else. */
const gfsmith_executor *executor_of(PyObject *capsule);

/* Is this the expected number of arguments? */
bool arguments(Py_ssize_t given, Py_ssize_t expected);

/* Is this a valid length of shards? */
bool length_fits(const handle *h, Py_ssize_t len);

/* The same, and do outputs not overlap other shards? */
bool ready(const handle *h, const shards *s);

/* Parse n truth values from a sequence of True and False (1 and 0). */
bool flags_of(PyObject *object, const char *name, unsigned n, bool *flags);

/* Parse the index of a data shard, less than k. */
bool index_of(PyObject *object, const char *name, unsigned k, unsigned *index);

/* None if the status is GFSMITH_OK, else NULL with the exception. */
PyObject *done(gfsmith_status status, const char *what);

/* The use of each shard by a repair: present ones are read, wanted ones written. */
void uses_of(unsigned n, const bool *present, const bool *wanted, use *uses);

/* Flags as a list of bool. NULL: an exception is set. */
PyObject *flag_list(Py_ssize_t count, const bool *flags);

/* Are more than m of n shards missing? The library finds that too, but only for shards of one
 * length. */
bool too_many(unsigned n, unsigned m, const bool *present);

/* FAST(name): an entry for a function that takes its arguments as an array. */
#define FAST(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}

extern PyMethodDef codec_methods[];
extern PyMethodDef call_methods[];
extern PyMethodDef batch_methods[];
extern PyMethodDef checksum_methods[];
extern PyMethodDef plan_methods[];
extern PyMethodDef device_methods[];
extern PyMethodDef graph_methods[];
extern PyMethodDef raid_methods[];
extern PyMethodDef timing_methods[];
extern PyMethodDef stream_methods[];
extern PyMethodDef wide_methods[];
extern PyMethodDef words_methods[];

#endif
