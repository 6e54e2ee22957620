/* Encoding and decoding with matrices of words of 8, 16 or 32 bits. */
#include <stdlib.h>
#include <string.h>

#include "coding.h"
#include "fail.h"
#include "fields.h"
#include "jerasure.h"
#include "jerasure/reed_sol.h"
#include "regions.h"
#include "statistics.h"

/* A linear map of shards that a call computes. */
typedef struct task {
  gfs_jerasure_shards shards;
  int w;
  int size;
  const int *sources; /* ids of k sources; NULL: the data */
} task;

static bool is_width(int w) { return w == 8 || w == 16 || w == 32; }

static bool is_size(int w, int size) { return size >= 0 && size % (w / 8) == 0; }

static bool are_elements(int w, size_t count, const int *matrix) {
  for (size_t n = 0; n < count; n++)
    if (!gfs_jerasure_has(w, matrix[n]))
      return false;
  return true;
}

static bool is_zero(int k, const int *row) {
  for (int j = 0; j < k; j++)
    if (row[j] != 0)
      return false;
  return true;
}

static void count_row(int k, const int *row, int size) {
  unsigned ones = 0, others = 0;
  for (int j = 0; j < k; j++) {
    ones += row[j] == 1;
    others += row[j] != 0 && row[j] != 1;
  }
  const uint64_t bytes = (uint64_t)size;
  gfs_jerasure_count(&(gfs_jerasure_work){.added = ones > 0 ? (ones - 1) * bytes : 0,
                                          .multiplied = others * bytes,
                                          .copied = ones > 0 ? bytes : 0});
}

/* Compute shards `ids`, one for each row. */
static void compute(const task *t, int rows, const int *matrix, const uint8_t *const *src,
                    const int *ids, uint8_t **dst) {
  const int k = t->shards.k;
  for (int i = 0; i < rows; i++) {
    dst[i] = gfs_jerasure_shard(&t->shards, ids[i]);
    count_row(k, matrix + (size_t)i * (size_t)k, t->size);
  }
  const gfs_jerasure_map map = {gfs_jerasure_field(t->w), (unsigned)t->w, (unsigned)k,
                                (unsigned)rows,           matrix,         false};
  gfs_jerasure_apply(&map, src, dst, (size_t)t->size);
}

/* The rows that a call computes: copies, without those that are 0, whose shards stay as they are.
 */
typedef struct rows {
  int count;
  int *matrix, *ids;
  const uint8_t **src;
  uint8_t **dst;
} rows;

/* Space for `most` rows; false if there is no memory. */
static bool make_rows(rows *r, int k, int most) {
  const size_t sources = (size_t)k, results = (size_t)most;
  r->count = 0;
  r->src = malloc((sources + results) * sizeof(void *) + (sources + 1) * results * sizeof(int) + 1);
  if (r->src == NULL)
    return false;
  r->dst = (uint8_t **)(r->src + sources);
  r->matrix = (int *)(r->dst + results);
  r->ids = r->matrix + sources * results;
  return true;
}

static void append_row(rows *r, int k, const int *row, int id) {
  if (is_zero(k, row))
    return;
  memcpy(r->matrix + (size_t)r->count * (size_t)k, row, (size_t)k * sizeof(int));
  r->ids[r->count++] = id;
}

static void compute_rows(const task *t, rows *r) {
  for (int j = 0; j < t->shards.k; j++)
    r->src[j] = gfs_jerasure_shard(&t->shards, gfs_jerasure_source(t->sources, j));
  compute(t, r->count, r->matrix, r->src, r->ids, r->dst);
  r->count = 0;
}

void jerasure_matrix_encode(int k, int m, int w, int *matrix, char **data_ptrs, char **coding_ptrs,
                            int size) {
  if (!is_width(w) || k < 1 || m < 0 || !is_size(w, size))
    gfs_jerasure_fail(__func__, "w must be 8, 16 or 32, k positive, size a multiple of w / 8");
  if (!are_elements(w, (size_t)k * (size_t)m, matrix))
    gfs_jerasure_fail(__func__, "the elements of the matrix must be in GF(2^w)");
  const task t = {{k, data_ptrs, coding_ptrs}, w, size, NULL};
  rows r;
  if (!make_rows(&r, k, m))
    gfs_jerasure_fail(__func__, "no memory");
  for (int i = 0; i < m; i++)
    append_row(&r, k, matrix + (size_t)i * (size_t)k, k + i);
  compute_rows(&t, &r);
  free(r.src);
}

void jerasure_matrix_dotprod(int k, int w, int *matrix_row, int *src_ids, int dest_id,
                             char **data_ptrs, char **coding_ptrs, int size) {
  const int width = w == 1 ? 8 : w;
  if (!is_width(width) || k < 1 || !is_size(width, size) || !are_elements(w, (size_t)k, matrix_row))
    gfs_jerasure_fail(__func__,
                      "w must be 1, 8, 16 or 32, k positive, size a multiple of w / 8, the "
                      "elements of the row in GF(2^w)");
  const task t = {{k, data_ptrs, coding_ptrs}, width, size, src_ids};
  rows r;
  if (!make_rows(&r, k, 1))
    gfs_jerasure_fail(__func__, "no memory");
  append_row(&r, k, matrix_row, dest_id);
  compute_rows(&t, &r);
  free(r.src);
}

void jerasure_do_parity(int k, char **data_ptrs, char *parity_ptr, int size) {
  if (k < 1 || size < 0)
    gfs_jerasure_fail(__func__, "k must be positive, and size not negative");
  gfs_jerasure_sum((size_t)size, (unsigned)k, (const uint8_t *const *)data_ptrs,
                   (uint8_t *)parity_ptr);
  const uint64_t bytes = (uint64_t)size;
  gfs_jerasure_count(&(gfs_jerasure_work){.added = (uint64_t)(k - 1) * bytes, .copied = bytes});
}

int jerasure_make_decoding_matrix(int k, int m, int w, int *matrix, int *erased,
                                  int *decoding_matrix, int *dm_ids) {
  int *mat = k < 1 ? NULL : malloc((size_t)k * (size_t)k * sizeof(int)), found = 0;
  for (int id = 0; mat != NULL && id < k + m && found < k; id++) {
    if (erased[id] != 0)
      continue;
    dm_ids[found] = id;
    for (int j = 0; j < k; j++)
      mat[found * k + j] = id < k ? id == j : matrix[(id - k) * k + j];
    found++;
  }
  int status = mat == NULL || found < k ? -1 : jerasure_invert_matrix(mat, decoding_matrix, k, w);
  free(mat);
  return status;
}

static bool are_ones(int k, const int *row) {
  for (int j = 0; j < k; j++)
    if (row[j] != 1)
      return false;
  return true;
}

/* Compute the lost data but `sum`, from the decoding matrix. */
static int decode_data(task *t, int m, int *matrix, int *erased, int sum, rows *r) {
  const int k = t->shards.k;
  int *decoding = malloc(((size_t)k + 1) * (size_t)k * sizeof(int));
  if (decoding == NULL)
    return -1;
  int *ids = decoding + (size_t)k * (size_t)k;
  int status = jerasure_make_decoding_matrix(k, m, t->w, matrix, erased, decoding, ids);
  t->sources = ids;
  for (int i = 0; status == 0 && i < k; i++)
    if (erased[i] != 0 && i != sum)
      append_row(r, k, decoding + (size_t)i * (size_t)k, i);
  if (status == 0)
    compute_rows(t, r);
  t->sources = NULL;
  free(decoding);
  return status;
}

/* Compute data shard `lost` from all others and coding shard 0. */
static void decode_sum(const task *t, int lost, const int *row, rows *r) {
  const int k = t->shards.k;
  append_row(r, k, row, lost);
  for (int j = 0; j < k; j++)
    r->src[j] = gfs_jerasure_shard(&t->shards, gfs_jerasure_other(j, lost));
  compute(t, 1, r->matrix, r->src, r->ids, r->dst);
  r->count = 0;
}

static int decode(task *t, int m, int *matrix, bool ones, int *erased, rows *r) {
  const int k = t->shards.k, lost = gfs_jerasure_lost(k, erased);
  const int last = gfs_jerasure_last_lost(k, erased);
  const bool summed = lost > 0 && ones && erased[k] == 0;
  if (lost > (summed ? 1 : 0) && decode_data(t, m, matrix, erased, summed ? last : k, r) != 0)
    return -1;
  if (summed)
    decode_sum(t, last, matrix, r);
  for (int i = 0; i < m; i++)
    if (erased[k + i] != 0)
      append_row(r, k, matrix + (size_t)i * (size_t)k, k + i);
  compute_rows(t, r);
  return 0;
}

int jerasure_matrix_decode(int k, int m, int w, int *matrix, int row_k_ones, int *erasures,
                           char **data_ptrs, char **coding_ptrs, int size) {
  if (!is_width(w) || k < 1 || m < 1 || !is_size(w, size) ||
      !are_elements(w, (size_t)k * (size_t)m, matrix))
    return -1;
  task t = {{k, data_ptrs, coding_ptrs}, w, size, NULL};
  rows r;
  int *erased = jerasure_erasures_to_erased(k, m, erasures), status = -1;
  if (erased != NULL && make_rows(&r, k, k > m ? k : m)) {
    status = decode(&t, m, matrix, row_k_ones != 0 && are_ones(k, matrix), erased, &r);
    free(r.src);
  }
  free(erased);
  return status;
}

int reed_sol_r6_encode(int k, int w, char **data_ptrs, char **coding_ptrs, int size) {
  if (!is_width(w) || k < 1 || !is_size(w, size))
    return 0;
  int *matrix = reed_sol_r6_coding_matrix(k, w);
  rows r;
  const task t = {{k, data_ptrs, coding_ptrs}, w, size, NULL};
  bool made = matrix != NULL && make_rows(&r, k, 2);
  for (int i = 0; made && i < 2; i++)
    append_row(&r, k, matrix + (size_t)i * (size_t)k, k + i);
  if (made) {
    compute_rows(&t, &r);
    free(r.src);
  }
  free(matrix);
  return made;
}
