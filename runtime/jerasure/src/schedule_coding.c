/* Encoding and decoding with schedules. */
#include <stdlib.h>
#include <string.h>

#include "coding.h"
#include "fail.h"
#include "jerasure.h"
#include "packet.h"
#include "schedule.h"

/* Run a schedule on every region of these shards. */
static void run_regions(uint8_t **ptrs, int shards, int **schedule, int w, int size,
                        int packetsize) {
  const size_t packet = (size_t)packetsize, region = packet * (size_t)w;
  for (size_t at = 0; at < (size_t)size; at += region) {
    gfs_jerasure_run(ptrs, schedule, packet);
    for (int n = 0; n < shards; n++)
      ptrs[n] += region;
  }
}

void jerasure_schedule_encode(int k, int m, int w, int **schedule, char **data_ptrs,
                              char **coding_ptrs, int size, int packetsize) {
  if (k < 1 || m < 0 || schedule == NULL || !gfs_jerasure_is_layout(w, size, packetsize))
    gfs_jerasure_fail(__func__, GFS_JERASURE_LAYOUT);
  const gfs_jerasure_shards shards = {k, data_ptrs, coding_ptrs};
  uint8_t **ptrs = malloc(((size_t)k + (size_t)m) * sizeof *ptrs);
  if (ptrs == NULL)
    gfs_jerasure_fail(__func__, "no memory");
  for (int id = 0; id < k + m; id++)
    ptrs[id] = gfs_jerasure_shard(&shards, id);
  run_regions(ptrs, k + m, schedule, w, size, packetsize);
  free(ptrs);
}

/* The order of shards in which a decoding schedule numbers them: k sources, then the erased data,
 * then the erased coding shards. Source j is data shard j, or a coding shard instead of an erased
 * one. */
typedef struct order {
  int k, m, w;
  int lost, gone; /* erased data and erased coding shards */
  int *ids;       /* k + m of them */
} order;

static bool make_order(order *o, int k, int m, int w, const int *erased) {
  *o = (order){.k = k, .m = m, .w = w, .ids = malloc(((size_t)k + (size_t)m) * sizeof(int))};
  if (o->ids == NULL)
    return false;
  int next = k;
  for (int j = 0; j < k; j++) {
    while (erased[j] != 0 && erased[next] != 0)
      next++;
    o->ids[j] = erased[j] != 0 ? next++ : j;
  }
  for (int id = 0; id < k + m; id++)
    if (erased[id] != 0) {
      o->ids[k + o->lost + o->gone] = id;
      *(id < k ? &o->lost : &o->gone) += 1;
    }
  return true;
}

/* Write the rows that give the erased data from the sources: rows of the inverse. */
static int fill_lost(const order *o, const int *bitmatrix, int *rows) {
  const size_t width = (size_t)o->k * (size_t)o->w, block = width * (size_t)o->w;
  int *mat = calloc(2 * width * width, sizeof(int));
  if (mat == NULL)
    return -1;
  int *inverse = mat + width * width;
  for (int j = 0; j < o->k; j++) {
    int *to = mat + (size_t)j * block;
    if (o->ids[j] >= o->k)
      memcpy(to, bitmatrix + (size_t)(o->ids[j] - o->k) * block, block * sizeof(int));
    for (int x = 0; o->ids[j] < o->k && x < o->w; x++)
      to[(size_t)x * width + (size_t)(j * o->w + x)] = 1;
  }
  int status = jerasure_invert_bitmatrix(mat, inverse, (int)width);
  for (int n = 0; status == 0 && n < o->lost; n++)
    memcpy(rows + (size_t)n * block, inverse + (size_t)o->ids[o->k + n] * block,
           block * sizeof(int));
  free(mat);
  return status;
}

/* Replace the columns of erased data shard `data` in a row of a coding shard by rows of the erased
 * data. */
static void replace_lost(const order *o, int data, const int *rows, const int *original, int *row) {
  const size_t width = (size_t)o->k * (size_t)o->w;
  for (int x = 0; x < o->w; x++)
    if (original[data * o->w + x] != 0)
      for (size_t n = 0; n < width; n++)
        row[n] ^= rows[(size_t)x * width + n];
}

/* Write the rows that give the erased coding shards from the sources. */
static void fill_gone(const order *o, const int *bitmatrix, int *rows) {
  const size_t width = (size_t)o->k * (size_t)o->w, block = width * (size_t)o->w;
  for (size_t n = 0; n < (size_t)(o->gone * o->w); n++) {
    const size_t shard = n / (size_t)o->w, x = n % (size_t)o->w;
    const int id = o->ids[(size_t)(o->k + o->lost) + shard] - o->k;
    const int *original = bitmatrix + (size_t)id * block + x * width;
    int *row = rows + (size_t)o->lost * block + n * width;
    memcpy(row, original, width * sizeof(int));
    for (int j = 0; j < o->k; j++)
      if (o->ids[j] != j)
        memset(row + j * o->w, 0, (size_t)o->w * sizeof(int));
    for (int e = 0; e < o->lost; e++)
      replace_lost(o, o->ids[o->k + e], rows + (size_t)e * block, original, row);
  }
}

/* The schedule that computes all erased shards; NULL if it is impossible. */
static int **decoding_schedule(const order *o, int *bitmatrix, int smart) {
  const int erased = o->lost + o->gone;
  int *rows = malloc((size_t)erased * (size_t)o->w * (size_t)(o->k * o->w) * sizeof(int) + 1);
  int **made = NULL;
  if (rows != NULL && (o->lost == 0 || fill_lost(o, bitmatrix, rows) == 0)) {
    fill_gone(o, bitmatrix, rows);
    made = smart ? jerasure_smart_bitmatrix_to_schedule(o->k, erased, o->w, rows)
                 : jerasure_dumb_bitmatrix_to_schedule(o->k, erased, o->w, rows);
  }
  free(rows);
  return made;
}

static bool run_decoding(const order *o, int **schedule, char **data_ptrs, char **coding_ptrs,
                         int size, int packetsize) {
  const gfs_jerasure_shards shards = {o->k, data_ptrs, coding_ptrs};
  const int used = o->k + o->lost + o->gone;
  uint8_t **ptrs = schedule == NULL ? NULL : malloc((size_t)used * sizeof *ptrs);
  if (ptrs == NULL)
    return false;
  for (int n = 0; n < used; n++)
    ptrs[n] = gfs_jerasure_shard(&shards, o->ids[n]);
  run_regions(ptrs, used, schedule, o->w, size, packetsize);
  free(ptrs);
  return true;
}

int jerasure_schedule_decode_lazy(int k, int m, int w, int *bitmatrix, int *erasures,
                                  char **data_ptrs, char **coding_ptrs, int size, int packetsize,
                                  int smart) {
  if (k < 1 || m < 1 || !gfs_jerasure_is_layout(w, size, packetsize))
    return -1;
  order o;
  int *erased = jerasure_erasures_to_erased(k, m, erasures), status = -1;
  if (erased != NULL && make_order(&o, k, m, w, erased)) {
    int **schedule = decoding_schedule(&o, bitmatrix, smart);
    status = run_decoding(&o, schedule, data_ptrs, coding_ptrs, size, packetsize) ? 0 : -1;
    jerasure_free_schedule(schedule);
    free(o.ids);
  }
  free(erased);
  return status;
}

/* A cache has the schedule for the erasure of a and b at a * (k + m) + b. So it has none for a list
 * of three, even if the list repeats one. */
static size_t place(int k, int m, int a, int b) { return (size_t)a * (size_t)(k + m) + (size_t)b; }

static int **schedule_of(int k, int m, int w, int *bitmatrix, int smart, int a, int b) {
  order o;
  int *erased = jerasure_erasures_to_erased(k, m, (int[]){a, b, -1}), **made = NULL;
  if (erased != NULL && make_order(&o, k, m, w, erased)) {
    made = decoding_schedule(&o, bitmatrix, smart);
    free(o.ids);
  }
  free(erased);
  return made;
}

int ***jerasure_generate_schedule_cache(int k, int m, int w, int *bitmatrix, int smart) {
  if (k < 1 || m != 2 || w < 1)
    return NULL;
  int ***cache = calloc((size_t)(k + m) * (size_t)(k + m), sizeof *cache);
  for (int a = 0; cache != NULL && a < k + m; a++)
    for (int b = a; b < k + m; b++) {
      int **made = schedule_of(k, m, w, bitmatrix, smart, a, b);
      cache[place(k, m, a, b)] = made;
      cache[place(k, m, b, a)] = made;
    }
  return cache;
}

void jerasure_free_schedule_cache(int k, int m, int ***cache) {
  if (m != 2)
    gfs_jerasure_fail(__func__, "m must be 2");
  for (int a = 0; cache != NULL && a < k + m; a++)
    for (int b = a; b < k + m; b++)
      jerasure_free_schedule(cache[place(k, m, a, b)]);
  free(cache);
}

int jerasure_schedule_decode_cache(int k, int m, int w, int ***scache, int *erasures,
                                   char **data_ptrs, char **coding_ptrs, int size, int packetsize) {
  if (k < 1 || m != 2 || scache == NULL || !gfs_jerasure_is_layout(w, size, packetsize))
    return -1;
  if (erasures[0] >= 0 && erasures[1] >= 0 && erasures[2] >= 0)
    return -1;
  order o;
  int *erased = jerasure_erasures_to_erased(k, m, erasures), status = erased == NULL ? -1 : 0;
  if (erased != NULL && erasures[0] >= 0) {
    const int second = erasures[1] < 0 ? erasures[0] : erasures[1];
    status = -1;
    if (make_order(&o, k, m, w, erased)) {
      int **schedule = scache[place(k, m, erasures[0], second)];
      status = run_decoding(&o, schedule, data_ptrs, coding_ptrs, size, packetsize) ? 0 : -1;
      free(o.ids);
    }
  }
  free(erased);
  return status;
}
