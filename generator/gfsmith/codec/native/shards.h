/* shards.h: the shards of one call, taken from Python objects without copying.
 *
 * A shard is a buffer of bytes; a set of them comes as a sequence of buffers, or as one buffer of
 * two dimensions whose rows are the shards. Buffers stay exported (a bytearray cannot change its
 * size) until shards_end. All functions need the GIL.
 *
 * Functions that return bool return false with a Python exception set: TypeError for an object that
 * is no buffer of bytes, else InvalidError; the message names the argument.
 */
#ifndef GFS_PYTHON_SHARDS_H
#define GFS_PYTHON_SHARDS_H

/* Py_LIMITED_API comes from setup.py: 3.11, the first with the buffer protocol. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* What a call does with a shard. SKIP: nothing, whatever stands there. */
typedef enum use { SKIP, READ, WRITE } use;

/* Where a shard comes from. index < 0: the argument is the shard. */
typedef struct origin {
  const char *name;
  int index;
  use use;
} origin;

typedef struct shards {
  Py_ssize_t len; /* of each, bytes; -1: none was taken yet */
  unsigned room, count, held;
  uint8_t **pointers; /* count, NULL where skipped */
  origin *origins;    /* count: whose pointer, and which shard told the length */
  origin measured;
  Py_buffer *views; /* held */
} shards;

/* Room for so many shards. To be followed by shards_end in any case. */
bool shards_begin(shards *s, size_t room);
void shards_end(shards *s);

/* Take `count` shards from a sequence or from rows, all of the length of the ones before.
 * uses: what is done with each. */
bool shards_add(shards *s, PyObject *object, const char *name, unsigned count, const use *uses);

/* The same, all used alike. */
bool shards_add_all(shards *s, PyObject *object, const char *name, unsigned count, use use);

/* Take one buffer as one shard. */
bool shards_add_one(shards *s, PyObject *object, const char *name, use use);

/* Does every written shard keep clear of all others? */
bool shards_apart(const shards *s);

/* Does a shard have elements of this one of struct's formats, of so many bytes? origin for the
 * message. */
bool shards_format(const Py_buffer *view, const char *formats, Py_ssize_t size, origin from);

/* Take a buffer of one dimension without gaps between elements. The view is to be released. */
bool shards_view(PyObject *object, origin from, const char *formats, Py_ssize_t size,
                 Py_buffer *view);

/* errors.c: the exception of a gfsmith_status with this message; always returns false. */
bool raise_status(int status, const char *format, ...);

#endif
