/* module.h: what the files of gfsmith.codec._native share. */
#ifndef GFS_PYTHON_MODULE_H
#define GFS_PYTHON_MODULE_H

#include "gfsmith.h"
#include "shards.h"

/* What a capsule of a codec holds. It never changes. */
typedef struct handle {
  gfsmith_codec *codec;
  unsigned k, m;
  size_t unit; /* lengths are its multiples: 1, or 8 packets */
} handle;

/* Calls that touch fewer bytes keep the GIL: they take microseconds, and to get the GIL back from a
 * thread that computes in Python takes milliseconds. */
#define RELEASE_FROM (32 << 10)

/* Run a statement, without the GIL if the shards together are long. */
#define RUN(s, statement)                                                                          \
  do {                                                                                             \
    bool long_ = (s)->count > 0 && (s)->len >= RELEASE_FROM / (Py_ssize_t)(s)->count;              \
    PyThreadState *released = long_ ? PyEval_SaveThread() : NULL;                                  \
    statement;                                                                                     \
    if (released != NULL)                                                                          \
      PyEval_RestoreThread(released);                                                              \
  } while (0)

/* The handle of a capsule; NULL with an exception for anything else. */
const handle *handle_of(PyObject *capsule);

/* Are there so many arguments? */
bool arguments(Py_ssize_t given, Py_ssize_t expected);

/* May shards have this length, and do outputs keep clear of the rest? */
bool ready(const handle *h, const shards *s);

/* n truth values: a sequence of True and False (1 and 0). */
bool flags_of(PyObject *object, const char *name, unsigned n, bool *flags);

/* None if the status is GFSMITH_OK, else NULL with the exception. */
PyObject *done(gfsmith_status status, const char *what);

/* What a repair does with each shard: reads those present, writes those wanted. */
void uses_of(unsigned n, const bool *present, const bool *wanted, use *uses);

/* FAST(name): a row for a function that takes its arguments as an array. */
#define FAST(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}

extern PyMethodDef codec_methods[];
extern PyMethodDef call_methods[];
extern PyMethodDef plan_methods[];
extern PyMethodDef raid_methods[];

#endif
