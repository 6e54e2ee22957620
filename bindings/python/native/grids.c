#include "grids.h"

#include "errors.h"

/* Set the distances. That of a single stripe or shard has no meaning and may be anything. */
static bool place(grid *g, int dimensions, use use) {
  Py_ssize_t stripe = g->count > 1 ? shards_stride(&g->view, 0) : g->len;
  Py_ssize_t shard = dimensions == 3 && g->shards > 1 ? shards_stride(&g->view, 1) : g->len;
  Py_ssize_t least = use == WRITE ? g->len : 0;
  bool empty = g->count == 0 || g->len == 0;
  if (!empty && (stripe < least || shard < least))
    return raise_status(GFSMITH_EINVAL, "%s: %s are %zd bytes apart, must be %zd or more", g->name,
                        stripe < least ? "stripes" : "shards", stripe < least ? stripe : shard,
                        least);
  g->stride = (gfsmith_stride){.shard = (size_t)shard, .stripe = (size_t)stripe};
  return true;
}

static bool open_array(grid *g, PyObject *object, const char *name, int dimensions, unsigned shards,
                       use use) {
  g->name = name;
  if (!shards_view(object, (origin){name, -1, use}, dimensions, "Bbc", 1, &g->view))
    return false;
  g->base = g->view.buf;
  g->count = g->view.shape[0];
  g->shards = dimensions == 3 ? g->view.shape[1] : 1;
  g->len = g->view.shape[dimensions - 1];
  if (g->shards != (Py_ssize_t)shards)
    return raise_status(GFSMITH_EINVAL, "%s: stripes of %zd shards, must be %u", name, g->shards,
                        shards);
  return place(g, dimensions, use);
}

static uint8_t *shard_of(const grid *g, Py_ssize_t i) {
  return g->base + i * (Py_ssize_t)g->stride.shard;
}

bool grid_open(grid *g, PyObject *object, const char *name, unsigned shards, use use) {
  return open_array(g, object, name, 3, shards, use);
}

bool grid_open_single(grid *g, PyObject *object, const char *name, use use) {
  return open_array(g, object, name, 2, 1, use);
}

void grid_close(grid *g) {
  if (g->view.obj != NULL)
    PyBuffer_Release(&g->view);
}

uint8_t **grid_pointers(const grid *g) {
  Py_ssize_t stripes = g->len > 0 ? g->count : 0;
  uint8_t **pointers = PyMem_Malloc((size_t)(stripes * g->shards) * sizeof *pointers + 1);
  if (pointers == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  uint8_t **next = pointers;
  for (Py_ssize_t s = 0; s < stripes; s++)
    for (Py_ssize_t i = 0; i < g->shards; i++)
      *next++ = shard_of(g, i) + s * (Py_ssize_t)g->stride.stripe;
  return pointers;
}

bool grids_match(const grid *g, const grid *first) {
  if (g->count != first->count)
    return raise_status(GFSMITH_EINVAL, "%s: %zd stripes, %s has %zd", g->name, g->count,
                        first->name, first->count);
  return g->len == first->len ||
         raise_status(GFSMITH_EINVAL, "%s: shards of %zd bytes, those of %s have %zd", g->name,
                      g->len, first->name, first->len);
}

/* Is |gap - n * step| < len for an n from `least` to `most`? The nearest multiple is one of three,
 * or at an end. */
static bool reaches(Py_ssize_t gap, Py_ssize_t step, Py_ssize_t least, Py_ssize_t most,
                    Py_ssize_t len) {
  Py_ssize_t middle = step > 0 ? gap / step : 0;
  for (Py_ssize_t n = middle - 1; n <= middle + 1; n++) {
    Py_ssize_t inside = n < least ? least : n > most ? most : n;
    Py_ssize_t rest = gap - inside * step;
    if (-len < rest && rest < len)
      return true;
  }
  return false;
}

/* Does shard i of any stripe of g overlap shard j of any stripe of another array? */
static bool meets(const grid *g, Py_ssize_t i, const grid *other, Py_ssize_t j) {
  Py_ssize_t step = (Py_ssize_t)g->stride.stripe, others = (Py_ssize_t)other->stride.stripe;
  Py_ssize_t gap = (Py_ssize_t)((uintptr_t)shard_of(g, i) - (uintptr_t)shard_of(other, j));
  if (step == others)
    return reaches(gap, step, 1 - g->count, g->count - 1, g->len);
  for (Py_ssize_t s = 0; s < g->count; s++)
    if (reaches(gap + s * step, others, 0, other->count - 1, g->len))
      return true;
  return false;
}

static bool overlap(const grid *g, Py_ssize_t i, const grid *other, Py_ssize_t j) {
  return raise_status(GFSMITH_EINVAL, "%s[:, %zd] overlaps %s[:, %zd]", g->name, i, other->name, j);
}

/* Does each stripe end before the next one begins, or each row of equal shards? */
static bool nested(Py_ssize_t inner, Py_ssize_t count, Py_ssize_t outer, Py_ssize_t len) {
  return inner >= len && outer >= (count - 1) * inner + len;
}

bool grid_apart(const grid *g) {
  Py_ssize_t stripe = (Py_ssize_t)g->stride.stripe, shard = (Py_ssize_t)g->stride.shard;
  if (g->count == 0 || g->len == 0 || nested(shard, g->shards, stripe, g->len) ||
      nested(stripe, g->count, shard, g->len))
    return true;
  for (Py_ssize_t i = 0; i < g->shards; i++)
    for (Py_ssize_t j = i + 1; j < g->shards; j++)
      if (meets(g, i, g, j))
        return overlap(g, i, g, j);
  return true;
}

/* The address after the last shard. */
static uintptr_t end_of(const grid *g) {
  return (uintptr_t)shard_of(g, g->shards - 1) + (size_t)(g->count - 1) * g->stride.stripe +
         (size_t)g->len;
}

/* The bytes of a stripe, if its shards follow one another. */
static Py_ssize_t extent(const grid *g) {
  return (g->shards - 1) * (Py_ssize_t)g->stride.shard + g->len;
}

/* Do the arrays take different columns of the same stripes, as slices of an array with all shards?
 * Without this, a call with thousands of shards would compare millions of pairs. */
static bool in_columns(const grid *g, const grid *other) {
  Py_ssize_t stripe = (Py_ssize_t)g->stride.stripe;
  if (stripe == 0 || other->stride.stripe != g->stride.stripe)
    return false;
  Py_ssize_t gap = (Py_ssize_t)((uintptr_t)g->base - (uintptr_t)other->base) % stripe;
  gap += gap < 0 ? stripe : 0;
  return gap >= extent(other) && gap + extent(g) <= stripe;
}

bool grids_apart(const grid *written, const grid *other) {
  if (!grid_apart(written))
    return false;
  if (written->count == 0 || written->len == 0 || end_of(written) <= (uintptr_t)other->base ||
      end_of(other) <= (uintptr_t)written->base || in_columns(written, other))
    return true;
  for (Py_ssize_t i = 0; i < written->shards; i++)
    for (Py_ssize_t j = 0; j < other->shards; j++)
      if (meets(written, i, other, j))
        return overlap(written, i, other, j);
  return true;
}
