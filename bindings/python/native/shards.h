/* shards.h: the shards of one call, taken from Python objects without copying.
 *
 * A shard is a buffer of bytes; a set of them comes as a sequence of buffers, or as one buffer of
 * two dimensions whose rows are the shards. Buffers stay exported (a bytearray cannot change its
 * size) until shards_end. All functions need the GIL.
 *
 * Functions that return bool return false with a Python exception set: TypeError for an object that
 * is not a buffer of bytes, else InvalidError; the message names the argument.
 */
#ifndef GFS_PYTHON_SHARDS_H
#define GFS_PYTHON_SHARDS_H

/* Py_LIMITED_API comes from setup.py: 3.11, the first with the buffer protocol. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* The use of a shard by a call. SKIP: the argument is ignored. */
typedef enum use { SKIP, READ, WRITE } use;

/* The origin of a shard, for messages. index < 0: the argument is the shard. */
typedef struct origin {
  const char *name;
  int index;
  use use;
} origin;

/* A shard that a call writes, the number `index` of all. */
typedef struct written {
  uintptr_t begin;
  unsigned index;
} written;

typedef struct shards {
  Py_ssize_t len; /* bytes of each shard; -1: not yet known */
  unsigned room, count, held;
  uint8_t **pointers; /* count, NULL where skipped */
  origin *origins; /* count: origin of each pointer, and of the shard that determined the length */
  origin measured;
  Py_buffer *views; /* held */
  written *written; /* room for shards_apart */
} shards;

/* Allocate space for this number of shards. shards_end must follow in any case. */
bool shards_begin(shards *s, size_t room);
void shards_end(shards *s);

/* Add `count` shards from a sequence or from rows; all shards must have the same length. uses: the
 * use of each. */
bool shards_add(shards *s, PyObject *object, const char *name, unsigned count, const use *uses);

/* The same with a common use. */
bool shards_add_all(shards *s, PyObject *object, const char *name, unsigned count, use use);

/* Add one buffer as one shard. */
bool shards_add_one(shards *s, PyObject *object, const char *name, use use);

/* Add `count` new shards of the common length, objects of type bytes that are appended to a list.
 * The call must write all of them. */
bool shards_add_new(shards *s, PyObject *list, unsigned count);

/* Are the written shards disjoint from all other shards? */
bool shards_apart(const shards *s);

/* Is the argument `name`, which will be written, disjoint from all shards? */
bool shards_apart_from(const shards *s, const char *name, const Py_buffer *view);

/* Get a buffer with this number of dimensions, whose elements in the last one are contiguous. The
 * caller releases the view. */
bool shards_view(PyObject *object, origin from, int dimensions, const char *formats,
                 Py_ssize_t size, Py_buffer *view);

/* The stride of a dimension. ctypes gives no strides: elements are contiguous. */
Py_ssize_t shards_stride(const Py_buffer *view, int dimension);

#endif
