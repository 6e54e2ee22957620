/* Workload of `gfsmith adapt --live`: encodes from memory with a coordinator. live.py builds and
 * runs it.
 *
 *     workload K M LEN THREADS SECONDS TRACE DEVICE POLICY
 *
 * DEVICE and POLICY may be empty. Each thread has its own pool, which is larger than the caches,
 * and encodes its stripes in a shuffled order, so that no call finds its shards in a cache. Every
 * fifth of a second, and at the end, the program prints one line in the form of the trace: the rate
 * of all threads together, in GB of sources per second. It ends after SECONDS (0: never) or at the
 * end of its standard input. Exit status 1: one line on stderr. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gfsmith_adaptive.h"

enum { MAX_THREADS = 256, TICK_MS = 500 };

/* Bytes of all pools together: several times a last-level cache. */
#define POOL ((size_t)256 << 20)

static unsigned k, m;
static size_t len, pitch;
static _Atomic int stop;

typedef struct worker {
  pthread_t thread;
  const gfsmith_codec *codec;
  uint8_t *pool;
  uint32_t *order;
  size_t stripes;
  _Alignas(128) _Atomic uint64_t calls; /* written by its thread only */
} worker;

static worker workers[MAX_THREADS];

static void die(const char *what) {
  fprintf(stderr, "workload: %s\n", what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static uint64_t next(uint64_t *random) {
  uint64_t z = *random += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* An odd number of lines, so that shards begin in different sets of a cache. */
static size_t pitch_of(size_t bytes) { return ((bytes + 63) / 64 | 1) * 64; }

static void prepare(worker *w, size_t room, uint64_t random) {
  size_t stripe = pitch * (k + m);
  w->stripes = room / stripe > 2 ? room / stripe : 2;
  w->pool = aligned_alloc(4096, (w->stripes * stripe + 4095) / 4096 * 4096);
  w->order = malloc(w->stripes * sizeof *w->order);
  if (w->pool == NULL || w->order == NULL)
    die("no memory");
  for (size_t n = 0; n < w->stripes * stripe / 8; n++) {
    uint64_t word = next(&random);
    memcpy(w->pool + n * 8, &word, 8);
  }
  for (size_t n = 0; n < w->stripes; n++) {
    size_t other = next(&random) % (n + 1);
    w->order[n] = w->order[other];
    w->order[other] = (uint32_t)n;
  }
}

static void *work(void *argument) {
  worker *w = argument;
  const uint8_t *src[GFSMITH_MAX_SHARDS];
  uint8_t *dst[GFSMITH_MAX_SHARDS];
  for (uint64_t calls = 0; !atomic_load_explicit(&stop, memory_order_relaxed);) {
    uint8_t *at = w->pool + w->order[calls % w->stripes] * pitch * (k + m);
    for (unsigned j = 0; j < k; j++, at += pitch)
      src[j] = at;
    for (unsigned i = 0; i < m; i++, at += pitch)
      dst[i] = at;
    if (gfsmith_encode(w->codec, len, src, dst) != GFSMITH_OK)
      die("encode failed");
    atomic_store_explicit(&w->calls, ++calls, memory_order_relaxed);
  }
  return NULL;
}

static uint64_t calls_of_all(unsigned threads) {
  uint64_t sum = 0;
  for (unsigned n = 0; n < threads; n++)
    sum += atomic_load_explicit(&workers[n].calls, memory_order_relaxed);
  return sum;
}

/* created: time of the coordinator's creation, from which the trace counts. */
static void watch(unsigned threads, double seconds, double created) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  double start = now(), before = start;
  uint64_t done = 0;
  for (bool ended = false; !ended;) {
    ended = poll(&input, 1, TICK_MS) != 0;
    double time = now();
    ended = ended || (seconds > 0 && time - start >= seconds);
    uint64_t sum = calls_of_all(threads);
    double rate = (double)(sum - done) * (double)k * (double)len / (time - before) * 1e-9;
    printf("{\"t\": %.6f, \"event\": \"rate\", \"k\": %u, \"m\": %u, \"len\": %zu, \"threads\": "
           "%u, \"gbps\": %.4f, "
           "\"calls\": %" PRIu64 "}\n",
           time - created, k, m, len, threads, rate, sum);
    fflush(stdout);
    done = sum;
    before = time;
  }
}

int main(int argc, char **argv) {
  if (argc != 9)
    die("wrong arguments");
  k = (unsigned)atoi(argv[1]), m = (unsigned)atoi(argv[2]);
  len = strtoull(argv[3], NULL, 10), pitch = pitch_of(len);
  unsigned threads = (unsigned)atoi(argv[4]);
  if (threads < 1 || threads > MAX_THREADS || len == 0)
    die("wrong arguments");
  gfsmith_adaptive_options options;
  gfsmith_adaptive *adaptive;
  gfsmith_codec *codec;
  gfsmith_adaptive_defaults(&options);
  options.trace = argv[6];
  options.device = argv[7][0] != '\0' ? argv[7] : NULL;
  options.policy = argv[8][0] != '\0' ? argv[8] : NULL;
  double created = now();
  gfsmith_status status = gfsmith_adaptive_create(&adaptive, &options);
  if (status == GFSMITH_EINVAL)
    die("unknown policy");
  if (status == GFSMITH_OK)
    status = gfsmith_codec_create(&codec, "cauchy", k, m);
  if (status == GFSMITH_OK)
    status = gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING);
  if (status == GFSMITH_OK)
    status = gfsmith_codec_adaptive(codec, adaptive);
  if (status != GFSMITH_OK)
    die(gfsmith_strerror(status));
  for (unsigned n = 0; n < threads; n++) {
    prepare(&workers[n], POOL / threads, n);
    workers[n].codec = codec;
  }
  for (unsigned n = 0; n < threads; n++)
    if (pthread_create(&workers[n].thread, NULL, work, &workers[n]) != 0)
      die("no thread");
  watch(threads, strtod(argv[5], NULL), created);
  atomic_store(&stop, 1);
  for (unsigned n = 0; n < threads; n++) {
    pthread_join(workers[n].thread, NULL);
    free(workers[n].pool);
    free(workers[n].order);
  }
  gfsmith_codec_destroy(codec);
  gfsmith_adaptive_destroy(adaptive);
  return 0;
}
