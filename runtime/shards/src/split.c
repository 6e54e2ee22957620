/* Encoding: batches of stripes. While one batch is written, the next one is read. */
#include "checksum.h"
#include "tasks.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct batch {
  uint8_t *memory;  /* an area of `area` bytes for each shard: records without gaps */
  unsigned stripes; /* complete or not */
  uint32_t last;    /* bytes of the blocks of the last stripe */
} batch;

typedef struct split {
  const gfsmith_shards_header *header;
  const gfsmith_shards_control *control;
  const gfsmith_shards_source *original;
  const gfsmith_shards_sink *shards;
  gfsmith_codec *codec;
  unsigned count; /* of shards */
  unsigned most;  /* stripes of a batch */
  size_t pitch;   /* bytes of a complete record */
  size_t area;    /* bytes of one shard's records in a batch */
  batch batches[2];
  batch *reading, *writing;
  uint64_t first;         /* number of the first stripe of `reading` */
  bool ended;             /* the original */
  atomic_int status;      /* the first failure of a task */
  gfs_shards_end end;     /* length and stripes so far */
  XXH3_state_t *checksum; /* of the original */
  uint64_t tags[GFSMITH_MAX_SHARDS];
} split;

static void fail(split *job, int status) {
  int none = GFSMITH_OK;
  atomic_compare_exchange_strong(&job->status, &none, status);
}

static uint8_t *record_of(const split *job, const batch *b, unsigned shard, unsigned stripe) {
  return b->memory + shard * job->area + stripe * job->pitch;
}

static uint8_t *block_of(const split *job, const batch *b, unsigned shard, unsigned stripe) {
  return record_of(job, b, shard, stripe) + GFS_SHARDS_PREFIX;
}

/* Read up to `size` bytes; fewer only at the end. */
static size_t read_full(split *job, uint8_t *to, size_t size) {
  size_t done = 0;
  while (done < size && !job->ended) {
    ptrdiff_t n = job->original->read(job->original->context, to + done, size - done);
    if (n < 0 || (size_t)n > size - done) {
      fail(job, GFSMITH_SHARDS_EREAD);
      job->ended = true;
    } else if (n == 0) {
      job->ended = true;
    } else {
      done += (size_t)n;
    }
  }
  XXH3_128bits_update(job->checksum, to, done);
  return done;
}

/* Distribute the r bytes of an incomplete stripe, read into complete blocks, to shorter ones. From
 * the last block backwards, no source is overwritten before it is moved. */
static uint32_t shorten(split *job, unsigned stripe, size_t r) {
  const batch *to = job->reading;
  unsigned k = job->header->k;
  size_t whole = job->header->block, b = (r + k - 1) / k;
  for (unsigned j = k; j-- > 0;) {
    uint8_t *block = block_of(job, to, j, stripe);
    size_t begin = j * b < r ? j * b : r, end = begin + b < r ? begin + b : r;
    size_t at = begin % whole, size = end - begin;
    size_t first = size < whole - at ? size : whole - at;
    unsigned from = (unsigned)(begin / whole);
    if (size > first)
      memmove(block + first, block_of(job, to, from + 1, stripe), size - first);
    if (first > 0)
      memmove(block, block_of(job, to, from, stripe) + at, first);
    memset(block + size, 0, b - size);
  }
  return (uint32_t)b;
}

static void read_batch(split *job) {
  batch *to = job->reading;
  const gfsmith_shards_header *h = job->header;
  to->stripes = 0;
  to->last = h->block;
  while (to->stripes < job->most && !job->ended) {
    size_t r = 0;
    for (unsigned j = 0; j < h->k && !job->ended; j++)
      r += read_full(job, block_of(job, to, j, to->stripes), h->block);
    if (r == 0)
      break;
    job->end.length += r;
    if (job->end.length > GFS_SHARDS_MAX_LENGTH)
      fail(job, GFSMITH_SHARDS_EREAD);
    if (r < (size_t)h->k * h->block)
      to->last = shorten(job, to->stripes, r);
    to->stripes++;
  }
  job->end.stripes += to->stripes;
}

static void encode_stripe(void *argument, unsigned stripe) {
  split *job = argument;
  const batch *b = job->reading;
  uint32_t bytes = stripe + 1 == b->stripes ? b->last : job->header->block;
  uint8_t *blocks[GFSMITH_MAX_SHARDS];
  for (unsigned i = 0; i < job->count; i++)
    blocks[i] = block_of(job, b, i, stripe);
  gfsmith_status status =
      gfsmith_encode(job->codec, bytes, (const uint8_t *const *)blocks, blocks + job->header->k);
  if (status != GFSMITH_OK)
    fail(job, status);
  for (unsigned i = 0; i < job->count; i++)
    gfs_shards_seal(record_of(job, b, i, stripe), job->tags[i], job->first + stripe, bytes,
                    GFS_SHARDS_BLOCK_RECORD);
}

static void write_shard(split *job, unsigned shard, const uint8_t *bytes, size_t size) {
  const gfsmith_shards_sink *sink = &job->shards[shard];
  if (atomic_load(&job->status) == GFSMITH_OK && !sink->write(sink->context, bytes, size))
    fail(job, GFSMITH_SHARDS_EWRITE);
}

/* Task 0 reads the next batch, task 1 + i writes the records of shard i. */
static void transfer(void *argument, unsigned task) {
  split *job = argument;
  const batch *b = job->writing;
  if (task == 0) {
    read_batch(job);
  } else if (b->stripes > 0) {
    size_t size = (b->stripes - 1) * job->pitch + GFS_SHARDS_PREFIX + b->last;
    write_shard(job, task - 1, record_of(job, b, task - 1, 0), size);
  }
}

static void write_header(void *argument, unsigned shard) {
  split *job = argument;
  gfsmith_shards_header header = *job->header;
  uint8_t raw[GFSMITH_SHARDS_HEADER];
  header.index = shard;
  gfsmith_shards_header_write(&header, raw);
  job->tags[shard] = gfs_shards_tag(raw);
  write_shard(job, shard, raw, sizeof raw);
}

static void write_end(void *argument, unsigned shard) {
  split *job = argument;
  uint8_t raw[GFS_SHARDS_PREFIX + GFS_SHARDS_TRAILER];
  gfs_shards_write_end(raw, job->tags[shard], &job->end);
  write_shard(job, shard, raw, sizeof raw);
}

static void run(split *job) {
  gfs_shards_run(job->control, job->count, write_header, job);
  do {
    uint64_t before = job->end.stripes;
    gfs_shards_run(job->control, 1 + job->count, transfer, job);
    job->first = before;
    gfs_shards_run(job->control, job->reading->stripes, encode_stripe, job);
    batch *full = job->reading;
    job->reading = job->writing;
    job->writing = full;
    if (!gfs_shards_progress(job->control, job->end.length))
      fail(job, GFSMITH_SHARDS_ECANCELED);
  } while (job->writing->stripes > 0 && atomic_load(&job->status) == GFSMITH_OK);
  gfs_shards_canonical(job->end.original, XXH3_128bits_digest(job->checksum));
  gfs_shards_run(job->control, job->count, write_end, job);
}

static int prepare(split *job) {
  job->count = job->header->k + job->header->m;
  job->most = gfs_shards_batch(job->control, job->header);
  job->pitch = GFS_SHARDS_PREFIX + job->header->block;
  job->area = job->most * job->pitch;
  job->reading = &job->batches[0];
  job->writing = &job->batches[1];
  int status = gfs_shards_codec(job->header, &job->codec);
  if (status != GFSMITH_OK)
    return status;
  job->checksum = XXH3_createState();
  for (int i = 0; i < 2; i++)
    job->batches[i].memory = gfs_shards_memory(job->count, job->area);
  if (job->checksum == NULL || job->batches[0].memory == NULL || job->batches[1].memory == NULL)
    return GFSMITH_ENOMEM;
  XXH3_128bits_reset(job->checksum);
  return GFSMITH_OK;
}

static bool sinks_valid(const gfsmith_shards_sink *shards, unsigned count) {
  for (unsigned i = 0; i < count; i++)
    if (shards[i].write == NULL)
      return false;
  return true;
}

int gfsmith_shards_split(const gfsmith_shards_header *header, const gfsmith_shards_source *original,
                         const gfsmith_shards_sink *shards, const gfsmith_shards_control *control,
                         uint64_t *length) {
  static const gfsmith_shards_control plain;
  if (header == NULL || original == NULL || original->read == NULL || shards == NULL)
    return GFSMITH_EINVAL;
  gfsmith_shards_header own = *header;
  own.index = 0;
  if (gfsmith_shards_header_fault(&own) != NULL || !sinks_valid(shards, own.k + own.m))
    return GFSMITH_EINVAL;
  split *job = calloc(1, sizeof *job);
  if (job == NULL)
    return GFSMITH_ENOMEM;
  job->header = &own;
  job->control = control != NULL ? control : &plain;
  job->original = original;
  job->shards = shards;
  int status = prepare(job);
  if (status == GFSMITH_OK) {
    run(job);
    status = atomic_load(&job->status);
  }
  if (status == GFSMITH_OK && length != NULL)
    *length = job->end.length;
  XXH3_freeState(job->checksum);
  free(job->batches[0].memory);
  free(job->batches[1].memory);
  gfsmith_codec_destroy(job->codec);
  free(job);
  return status;
}
