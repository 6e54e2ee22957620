/* Encoding and decoding with bit matrices. A shard is a sequence of regions of w packets. */
#include <stdlib.h>
#include <string.h>

#include "coding.h"
#include "fail.h"
#include "jerasure.h"
#include "packet.h"
#include "regions.h"

/* A call, and k sources; NULL: the data. */
typedef struct task {
  gfs_jerasure_shards shards;
  int w, size, packetsize;
  const int *sources;
} task;

static bool is_valid(const task *t) {
  return t->shards.k >= 1 && gfs_jerasure_is_layout(t->w, t->size, t->packetsize);
}

/* One packet of shard `id`: the sum of the packets of the sources whose bits are set in the row. */
static void compute_packet(const task *t, const int *row, size_t at, uint8_t *to) {
  gfs_jerasure_packets sum = {.size = (size_t)t->packetsize, .to = to};
  for (int n = 0; n < t->shards.k * t->w; n++) {
    if (row[n] == 0)
      continue;
    int id = gfs_jerasure_source(t->sources, n / t->w);
    size_t packet = at + (size_t)(n % t->w) * sum.size;
    gfs_jerasure_packets_add(&sum, gfs_jerasure_shard(&t->shards, id) + packet);
  }
  gfs_jerasure_packets_end(&sum);
}

/* Compute shard `id` from w rows of bits. */
static void compute(const task *t, const int *rows, int id) {
  const size_t packet = (size_t)t->packetsize, width = (size_t)(t->shards.k * t->w);
  uint8_t *shard = gfs_jerasure_shard(&t->shards, id);
  for (size_t at = 0; at < (size_t)t->size; at += packet * (size_t)t->w)
    for (size_t x = 0; x < (size_t)t->w; x++)
      compute_packet(t, rows + x * width, at, shard + at + x * packet);
}

void jerasure_bitmatrix_dotprod(int k, int w, int *bitmatrix_row, int *src_ids, int dest_id,
                                char **data_ptrs, char **coding_ptrs, int size, int packetsize) {
  const task t = {{k, data_ptrs, coding_ptrs}, w, size, packetsize, src_ids};
  if (!is_valid(&t))
    gfs_jerasure_fail(__func__, GFS_JERASURE_LAYOUT);
  compute(&t, bitmatrix_row, dest_id);
}

void jerasure_bitmatrix_encode(int k, int m, int w, int *bitmatrix, char **data_ptrs,
                               char **coding_ptrs, int size, int packetsize) {
  const task t = {{k, data_ptrs, coding_ptrs}, w, size, packetsize, NULL};
  if (!is_valid(&t) || packetsize % (int)sizeof(long) != 0)
    gfs_jerasure_fail(__func__, GFS_JERASURE_LAYOUT ", packetsize of sizeof(long)");
  for (int i = 0; i < m; i++)
    compute(&t, bitmatrix + (size_t)i * (size_t)k * (size_t)w * (size_t)w, k + i);
}

int jerasure_make_decoding_bitmatrix(int k, int m, int w, int *matrix, int *erased,
                                     int *decoding_matrix, int *dm_ids) {
  const size_t width = (size_t)k * (size_t)w, block = width * (size_t)w;
  int *mat = k < 1 || w < 1 ? NULL : calloc(width * width, sizeof(int)), found = 0;
  for (int id = 0; mat != NULL && id < k + m && found < k; id++) {
    if (erased[id] != 0)
      continue;
    int *rows = mat + (size_t)found * block;
    dm_ids[found++] = id;
    if (id >= k)
      memcpy(rows, matrix + (size_t)(id - k) * block, block * sizeof(int));
    for (int x = 0; id < k && x < w; x++)
      rows[(size_t)x * width + (size_t)(id * w + x)] = 1;
  }
  int status =
      mat == NULL || found < k ? -1 : jerasure_invert_bitmatrix(mat, decoding_matrix, k * w);
  free(mat);
  return status;
}

/* Are these w rows of the matrix identities? */
static bool are_identities(int k, int w, const int *rows) {
  for (int n = 0; n < k * w * w; n++)
    if ((rows[n] != 0) != (n / (k * w) == n % w))
      return false;
  return true;
}

/* Compute the lost data but `sum`, from the decoding matrix. */
static int decode_data(task *t, int m, int *bitmatrix, int *erased, int sum) {
  const int k = t->shards.k;
  const size_t width = (size_t)k * (size_t)t->w;
  int *decoding = malloc((width * width + (size_t)k) * sizeof(int));
  if (decoding == NULL)
    return -1;
  int *ids = decoding + width * width;
  int status = jerasure_make_decoding_bitmatrix(k, m, t->w, bitmatrix, erased, decoding, ids);
  t->sources = ids;
  for (int i = 0; status == 0 && i < k; i++)
    if (erased[i] != 0 && i != sum)
      compute(t, decoding + (size_t)i * (size_t)t->w * width, i);
  t->sources = NULL;
  free(decoding);
  return status;
}

/* Compute data shard `lost` from all others and coding shard 0. */
static int decode_sum(task *t, int lost, const int *bitmatrix) {
  const int k = t->shards.k;
  int *ids = malloc((size_t)k * sizeof(int));
  if (ids == NULL)
    return -1;
  for (int j = 0; j < k; j++)
    ids[j] = gfs_jerasure_other(j, lost);
  t->sources = ids;
  compute(t, bitmatrix, lost);
  t->sources = NULL;
  free(ids);
  return 0;
}

static int decode(task *t, int m, int *bitmatrix, bool ones, int *erased) {
  const int k = t->shards.k, lost = gfs_jerasure_lost(k, erased);
  const int last = gfs_jerasure_last_lost(k, erased);
  const bool summed = lost > 0 && ones && erased[k] == 0;
  if (lost > (summed ? 1 : 0) && decode_data(t, m, bitmatrix, erased, summed ? last : k) != 0)
    return -1;
  if (summed && decode_sum(t, last, bitmatrix) != 0)
    return -1;
  for (int i = 0; i < m; i++)
    if (erased[k + i] != 0)
      compute(t, bitmatrix + (size_t)i * (size_t)k * (size_t)t->w * (size_t)t->w, k + i);
  return 0;
}

int jerasure_bitmatrix_decode(int k, int m, int w, int *bitmatrix, int row_k_ones, int *erasures,
                              char **data_ptrs, char **coding_ptrs, int size, int packetsize) {
  task t = {{k, data_ptrs, coding_ptrs}, w, size, packetsize, NULL};
  if (!is_valid(&t) || m < 1)
    return -1;
  int *erased = jerasure_erasures_to_erased(k, m, erasures);
  bool ones = row_k_ones != 0 && are_identities(k, w, bitmatrix);
  int status = erased == NULL ? -1 : decode(&t, m, bitmatrix, ones, erased);
  free(erased);
  return status;
}
