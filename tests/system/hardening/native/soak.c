/* soak: valid and invalid calls of many threads on shared codecs, for a number of seconds.
 *
 *     soak SECONDS THREADS SEED [leak | byte]
 *
 * Every parity byte that is compared comes from this file's own arithmetic: c[i][j] =
 * 1 / ((k + i) ^ j) over GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1. Threads replace the codecs while
 * others wait for them, and the process forks all the time. At the end all memory must be free
 * again, and the process must not have grown. `leak` and `byte` plant an error, which must be
 * found: memory that is never freed, and one wrong byte.
 *
 * The program prints the numbers of calls. Its exit status is 1, with a line, after an error. */
#include <gfsmith.h>
#include <gfsmith_parallel.h>
#include <gfsmith_plan.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REQUIRE(condition)                                                                         \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "soak: line %d: %s\n", __LINE__, #condition);                                \
      _exit(1);                                                                                    \
    }                                                                                              \
  } while (0)

enum {
  K_MAX = 20,
  M_MAX = 6,
  SHARDS = K_MAX + M_MAX,
  LEN_MAX = 300000,
  GUARD = 64,
  PATTERN = 0xa5,
  SLOTS = 8,
  THREADS_MAX = 64,
  POSITIONS = 24,
  PACKET = 16,
  LEAK = 4096,
  LEAKS = 64,       /* together more than HEAPS, less than GROWTH */
  GROWTH = 8 << 20, /* bytes of the process; the heaps of threads are not compact */
  HEAPS = 128 << 10 /* bytes that the allocator keeps for ended threads */
};

typedef struct shared_codec {
  pthread_rwlock_t lock; /* held for reading by every call, for writing to replace the codec */
  gfsmith_codec *codec;
  unsigned k, m;
  bool packets;
} shared_codec;

typedef struct worker {
  pthread_t thread;
  uint64_t random, stripes, refused, codecs;
  uint8_t *memory, *shard[SHARDS];
  uint8_t saved[M_MAX][LEN_MAX];
} worker;

static shared_codec slots[SLOTS];
static gfsmith_executor executor;
static uint8_t product[256][256];
static atomic_bool stopping;
static bool leaking, flipping;
static atomic_uint leaks;

static uint64_t next(worker *w) {
  w->random ^= w->random << 13;
  w->random ^= w->random >> 7;
  w->random ^= w->random << 17;
  return w->random;
}

static unsigned below(worker *w, unsigned limit) { return (unsigned)((next(w) >> 32) % limit); }

static void fill_products(void) {
  for (unsigned a = 0; a < 256; a++)
    for (unsigned b = 0; b < 256; b++) {
      unsigned sum = 0;
      for (unsigned bit = 8; bit-- > 0;) {
        sum = sum << 1 ^ (sum & 0x80 ? GFSMITH_POLYNOMIAL : 0);
        sum ^= b >> bit & 1 ? a : 0;
      }
      product[a][b] = (uint8_t)sum;
    }
}

static uint8_t inverse(unsigned a) {
  unsigned b = 1;
  while (product[a][b] != 1)
    b++;
  return (uint8_t)b;
}

static gfsmith_codec *make_codec(worker *w, unsigned k, unsigned m) {
  gfsmith_codec *codec;
  uint8_t matrix[M_MAX * K_MAX];
  for (unsigned i = 0; i < m; i++)
    for (unsigned j = 0; j < k; j++)
      matrix[i * k + j] = inverse((k + i) ^ j);
  if (below(w, 2) == 0)
    REQUIRE(gfsmith_codec_create(&codec, "cauchy", k, m) == GFSMITH_OK);
  else
    REQUIRE(gfsmith_codec_create_matrix(&codec, GFSMITH_POLYNOMIAL, k, m, matrix) == GFSMITH_OK);
  REQUIRE(gfsmith_codec_hint(codec, (gfsmith_hint)below(w, 3)) == GFSMITH_OK);
  w->codecs++;
  return codec;
}

static void replace(worker *w, shared_codec *s) {
  gfsmith_codec_destroy(s->codec);
  s->k = 1 + below(w, K_MAX);
  s->m = 1 + below(w, M_MAX);
  s->codec = make_codec(w, s->k, s->m);
  s->packets = below(w, 4) == 0;
  REQUIRE(gfsmith_codec_packets(s->codec, s->packets ? PACKET : 0) == GFSMITH_OK);
}

/* Shards of a thread's memory at any alignment, between guard bytes. Some bytes of each are random.
 */
static void place(worker *w, const shared_codec *s, size_t len) {
  uint8_t *at = w->memory;
  for (unsigned n = 0; n < s->k + s->m; n++) {
    size_t skip = below(w, 3) == 0 ? below(w, GUARD) : 0;
    memset(at, PATTERN, GUARD + skip);
    w->shard[n] = at + GUARD + skip;
    for (size_t b = 0; b < len; b++)
      w->shard[n][b] = (uint8_t)(b * 0x9d >> 3 ^ b);
    for (unsigned spot = 0; spot < POSITIONS && len > 0; spot++)
      w->shard[n][below(w, (unsigned)len)] = (uint8_t)next(w);
    at = w->shard[n] + len;
    memset(at, PATTERN, GUARD);
    at += 2 * GUARD - skip;
  }
}

static void require_guards(const worker *w, const shared_codec *s, size_t len) {
  for (unsigned n = 0; n < s->k + s->m; n++)
    for (unsigned b = 0; b < GUARD; b++)
      REQUIRE(w->shard[n][-1 - (int)b] == PATTERN && w->shard[n][len + b] == PATTERN);
}

static uint8_t expected(const worker *w, const shared_codec *s, unsigned i, size_t at) {
  uint8_t sum = 0;
  for (unsigned j = 0; j < s->k; j++)
    sum ^= product[inverse((s->k + i) ^ j)][w->shard[j][at]];
  return sum;
}

/* Compares bytes of all parities: the first, the last and some others. In packet layout the
 * symbols are not bytes; there the parities are checked by repairs only. */
static void require_parities(worker *w, const shared_codec *s, size_t len) {
  if (s->packets || len == 0)
    return;
  for (unsigned n = 0; n < POSITIONS; n++) {
    size_t at = n == 0 ? 0 : n == 1 ? len - 1 : below(w, (unsigned)len);
    for (unsigned i = 0; i < s->m; i++)
      REQUIRE(w->shard[s->k + i][at] == expected(w, s, i, at));
  }
}

static void encode(worker *w, const shared_codec *s, size_t len) {
  const uint8_t *const *data = (const uint8_t *const *)w->shard;
  uint8_t **parity = w->shard + s->k;
  unsigned way = below(w, 3);
  gfsmith_status status = way == 0 ? gfsmith_encode(s->codec, len, data, parity)
                          : way == 1
                              ? gfsmith_encode_parallel(s->codec, &executor, len, data, parity)
                              : gfsmith_encode_stripes(s->codec, len, 1, data, parity);
  REQUIRE(status == GFSMITH_OK);
  if (flipping && len > 0 && w->stripes == 100)
    parity[0][0] ^= 1;
}

/* Changes one data shard. */
static void update(worker *w, const shared_codec *s, size_t len) {
  static const uint8_t delta[LEN_MAX] = {[0 ... LEN_MAX - 1] = 0x3c};
  unsigned changed = below(w, s->k);
  REQUIRE(gfsmith_update(s->codec, len, changed, delta, w->shard + s->k) == GFSMITH_OK);
  for (size_t b = 0; b < len; b++)
    w->shard[changed][b] ^= delta[b];
}

/* Loses up to m shards and rebuilds them, by the remembered repairs or by a plan. */
static void repair(worker *w, const shared_codec *s, size_t len) {
  bool present[SHARDS];
  unsigned lost[M_MAX], total = s->k + s->m, count = below(w, s->m + 1);
  memset(present, true, sizeof present);
  for (unsigned n = 0; n < count; n++) {
    do
      lost[n] = below(w, total);
    while (!present[lost[n]]);
    present[lost[n]] = false;
    memcpy(w->saved[n], w->shard[lost[n]], len);
    memset(w->shard[lost[n]], PATTERN, len);
  }
  if (below(w, 2) == 0) {
    gfsmith_plan *plan;
    REQUIRE(gfsmith_plan_create(&plan, s->codec, present, NULL) == GFSMITH_OK);
    REQUIRE(gfsmith_plan_run(plan, len, w->shard) == GFSMITH_OK);
    gfsmith_plan_destroy(plan);
    if (leaking && atomic_fetch_add(&leaks, 1) < LEAKS)
      REQUIRE(malloc(LEAK) != NULL);
  } else {
    const gfsmith_executor *threads = below(w, 2) == 0 ? &executor : NULL;
    REQUIRE(gfsmith_reconstruct_parallel(s->codec, threads, len, w->shard, present, NULL) ==
            GFSMITH_OK);
  }
  for (unsigned n = 0; n < count; n++)
    REQUIRE(memcmp(w->saved[n], w->shard[lost[n]], len) == 0);
}

static void require_check(worker *w, const shared_codec *s, size_t len) {
  bool ok = false;
  const uint8_t *const *shards = (const uint8_t *const *)w->shard;
  REQUIRE(gfsmith_check(s->codec, len, shards, &ok) == GFSMITH_OK && ok);
  if (len == 0)
    return;
  uint8_t *wrong = w->shard[below(w, s->k + s->m)] + below(w, (unsigned)len);
  *wrong ^= 1;
  REQUIRE(gfsmith_check_parallel(s->codec, &executor, len, shards, &ok) == GFSMITH_OK && !ok);
  *wrong ^= 1;
}

/* Calls that must be refused and must write nothing. */
static void misuse(worker *w, const shared_codec *s, size_t len) {
  bool present[SHARDS] = {false};
  gfsmith_codec *codec;
  gfsmith_plan *plan;
  unsigned j = below(w, s->k);
  uint8_t *kept = w->shard[j];
  const uint8_t *const *data = (const uint8_t *const *)w->shard;
  uint8_t **parity = w->shard + s->k;
  REQUIRE(gfsmith_encode(NULL, len, data, parity) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_update(s->codec, len, s->k, w->shard[0], parity) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_reconstruct(s->codec, len, w->shard, present, NULL) == GFSMITH_ETOOMANY);
  REQUIRE(gfsmith_plan_create(&plan, s->codec, present, NULL) == GFSMITH_ETOOMANY && plan == NULL);
  REQUIRE(gfsmith_codec_create(&codec, "cauchy", 200, 56) == GFSMITH_EINVAL && codec == NULL);
  REQUIRE(gfsmith_codec_create(&codec, "no such code", 3, 2) == GFSMITH_EINVAL && codec == NULL);
  w->shard[j] = NULL;
  REQUIRE(gfsmith_encode(s->codec, len, data, parity) == (len == 0 ? GFSMITH_OK : GFSMITH_EINVAL));
  w->shard[j] = kept;
  w->refused += 7;
}

static size_t length(worker *w, const shared_codec *s) {
  unsigned how = below(w, 64);
  size_t len = how == 0 ? below(w, LEN_MAX + 1) : how < 8 ? below(w, 20000) : below(w, 2000);
  return s->packets ? len / (8 * PACKET) * (8 * PACKET) : len;
}

static void stripe(worker *w, const shared_codec *s) {
  size_t len = length(w, s);
  place(w, s, len);
  encode(w, s, len);
  require_parities(w, s, len);
  if (below(w, 2) == 0)
    misuse(w, s, len);
  if (!s->packets && below(w, 2) == 0)
    update(w, s, len);
  require_parities(w, s, len);
  require_check(w, s, len);
  repair(w, s, len);
  require_guards(w, s, len);
  w->stripes++;
}

/* All pages are touched at once, so that the process does not grow when long shards occur. */
static worker *worker_make(uint64_t seed) {
  size_t bytes = (size_t)SHARDS * (LEN_MAX + 3 * GUARD);
  worker *w = malloc(sizeof *w);
  REQUIRE(w != NULL);
  memset(w->saved, PATTERN, sizeof w->saved);
  w->stripes = w->refused = w->codecs = 0;
  w->random = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
  w->memory = malloc(bytes);
  REQUIRE(w->memory != NULL);
  memset(w->memory, PATTERN, bytes);
  return w;
}

static void worker_free(worker *w) {
  free(w->memory);
  free(w);
}

static void *work(void *argument) {
  worker *w = argument;
  while (!stopping) {
    shared_codec *s = &slots[below(w, SLOTS)];
    if (below(w, 200) == 0) {
      REQUIRE(pthread_rwlock_wrlock(&s->lock) == 0);
      replace(w, s);
    } else {
      REQUIRE(pthread_rwlock_rdlock(&s->lock) == 0);
      stripe(w, s);
    }
    REQUIRE(pthread_rwlock_unlock(&s->lock) == 0);
  }
  return NULL;
}

/* A child has only the thread that forked; another thread may hold any lock of a slot. */
static void fork_once(uint64_t seed) {
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);
    worker *w = worker_make(seed);
    shared_codec own = {.codec = NULL};
    for (unsigned n = 0; n < 3; n++) {
      replace(w, &own);
      stripe(w, &own);
    }
    _exit(0);
  }
  int status;
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

static size_t resident(void) {
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  REQUIRE(file != NULL && fscanf(file, "%*u %lu", &pages) == 1);
  fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static unsigned long number(const char *text, unsigned long most) {
  char *end;
  unsigned long value = strtoul(text, &end, 10);
  REQUIRE(*end == 0 && value >= 1 && value <= most);
  return value;
}

/* Forks until the time is over. Returns the growth of the process after the first quarter; 0 if a
 * single second has no quarters. */
static long wait_and_fork(unsigned long seconds, uint64_t seed, uint64_t *forks) {
  time_t start = time(NULL);
  size_t before = 0;
  for (time_t now = start; now - start < (time_t)seconds; now = time(NULL)) {
    if (before == 0 && now > start && now - start >= (time_t)seconds / 4)
      before = resident();
    fork_once(seed + ++*forks);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  }
  return before == 0 ? 0 : (long)resident() - (long)before;
}

static void run(unsigned long seconds, unsigned threads, uint64_t seed) {
  worker *workers[THREADS_MAX];
  uint64_t forks = 0, stripes = 0, refused = 0, codecs = SLOTS;
  for (unsigned n = 0; n < threads; n++)
    workers[n] = worker_make(seed + n);
  for (unsigned n = 0; n < SLOTS; n++) {
    REQUIRE(pthread_rwlock_init(&slots[n].lock, NULL) == 0);
    replace(workers[0], &slots[n]);
  }
  for (unsigned n = 0; n < threads; n++)
    REQUIRE(pthread_create(&workers[n]->thread, NULL, work, workers[n]) == 0);
  long growth = wait_and_fork(seconds, seed + THREADS_MAX, &forks);
  stopping = true;
  for (unsigned n = 0; n < threads; n++) {
    REQUIRE(pthread_join(workers[n]->thread, NULL) == 0);
    stripes += workers[n]->stripes;
    refused += workers[n]->refused;
    codecs += workers[n]->codecs;
    worker_free(workers[n]);
  }
  for (unsigned n = 0; n < SLOTS; n++) {
    gfsmith_codec_destroy(slots[n].codec);
    slots[n].codec = NULL;
    REQUIRE(pthread_rwlock_destroy(&slots[n].lock) == 0);
  }
  REQUIRE(growth < GROWTH);
  printf("%llu stripes, %llu refused calls, %llu codecs, %llu forks\n", (unsigned long long)stripes,
         (unsigned long long)refused, (unsigned long long)codecs, (unsigned long long)forks);
}

int main(int count, char **argument) {
  REQUIRE(count == 4 || count == 5);
  unsigned long seconds = number(argument[1], 1000000), threads = number(argument[2], THREADS_MAX);
  uint64_t seed = number(argument[3], 1000000000);
  bool leak = count == 5 && strcmp(argument[4], "leak") == 0;
  flipping = count == 5 && strcmp(argument[4], "byte") == 0;
  REQUIRE(count == 4 || leak || flipping);
  fill_products();
  gfsmith_pool *pool;
  size_t before = 0;
  for (unsigned round = 0; round < 2; round++) { /* the first use of a function may allocate */
    if (round == 1) {
      before = mallinfo2().uordblks;
      leaking = leak;
    }
    REQUIRE(gfsmith_pool_create(&pool, 3) == GFSMITH_OK);
    executor = *gfsmith_pool_executor(pool);
    executor.least = 100000;
    stopping = false;
    run(round == 0 ? 1 : seconds, (unsigned)threads, seed);
    gfsmith_pool_destroy(pool);
  }
  REQUIRE(mallinfo2().uordblks <= before + HEAPS);
  return 0;
}
