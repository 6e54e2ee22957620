/* The prefetches of pipelined kernels. With one distance, every visit prefetches exactly the line
 * that is visited `distance` visits later. With two distances, every line is prefetched once, first
 * lines earlier. All prefetched lines belong to the call; lines that no visit prefetches are
 * prefetched before the first visit or by the plain rest. In a batch of stripes, the iterations of
 * a stripe that have no such lines left prefetch the next stripe from its first iteration on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_set/kernels.h"
#include "gfsmith_adaptive.h"
#include "order.h"

enum { VISITS_MAX = 1 << 16, SHARD_MAX = 5000, K_MAX = 70 };

typedef struct seen {
  unsigned source;
  const uint8_t *line, *asked;
} seen;

static seen visits[VISITS_MAX];
static size_t count;
static uint8_t shards[K_MAX + 12][SHARD_MAX + 320];

static void watch(unsigned source, const uint8_t *line, const uint8_t *asked) {
  if (count == VISITS_MAX)
    exit(3);
  visits[count++] = (seen){source, line, asked};
}

/* The current case. */
static unsigned k, m, distance, first;
static size_t len;
static const char *walk;
static const uint8_t *src[K_MAX];
static uint8_t *dst[12];

static void fail(const char *what, size_t visit) {
  printf("%s: visit %zu, %s,d=%u,first=%u, %u+%u, %zu bytes\n", what, visit, walk, distance, first,
         k, m, len);
  exit(1);
}

/* Returns true for a line of the call: at a multiple of 64 from a source's start, within its bytes.
 */
static bool inside(const uint8_t *line) {
  for (unsigned j = 0; j < k; j++)
    if (line >= src[j] && line < src[j] + len)
      return (size_t)(line - src[j]) % 64 == 0;
  return false;
}

static bool is_first(const uint8_t *line) { return ((uintptr_t)line & 255) < 64; }

/* With one distance: checks that each prefetched line is visited `distance` visits later, until the
 * kernel's last visit. */
static void one_distance(void) {
  for (size_t n = 0; n < count; n++) {
    if (!inside(visits[n].asked))
      fail("prefetches outside of the call", n);
    if (n + distance < count && visits[n].asked != visits[n + distance].line)
      fail("prefetches another line", n);
  }
}

static size_t visit_of(const uint8_t *line) {
  for (size_t n = 0; n < count; n++)
    if (visits[n].line == line)
      return n;
  return SIZE_MAX;
}

/* With two distances: of the lines that are also visited, first lines are prefetched `first` visits
 * ahead and the others `distance`, on average. From a distance of k on, no line is prefetched
 * twice; with a shorter one it depends on the alignment of the shards. */
static void two_distances(unsigned lines) {
  double sum[2] = {0, 0};
  size_t of[2] = {0, 0};
  for (size_t n = 0; n < count; n++) {
    if (!inside(visits[n].asked))
      fail("prefetches outside of the call", n);
    for (size_t other = 0; other < n; other++)
      if (distance >= k && visits[other].asked == visits[n].asked)
        fail("prefetches twice", n);
    size_t at = visit_of(visits[n].asked);
    if (at == SIZE_MAX)
      continue;
    if (at <= n && distance > k && first > k)
      fail("prefetches too late", n);
    bool is = is_first(visits[n].asked);
    sum[is] += (double)at - (double)n;
    of[is]++;
  }
  /* Only shards of several iterations, so that beginning and end hardly matter. */
  if (count < (size_t)8 * lines * k || of[0] == 0 || of[1] == 0)
    return;
  double others = sum[0] / (double)of[0], firsts = sum[1] / (double)of[1];
  if (fabs(others - distance) > 2 || fabs(firsts - first) > 2)
    fail("mean distances are off", count);
}

static void run(gfsmith_adaptive *adaptive, gfsmith_codec *codec, unsigned lines) {
  char policy[64];
  if (first > 0)
    snprintf(policy, sizeof policy, "%s,d=%u,first=%u", walk, distance, first);
  else
    snprintf(policy, sizeof policy, "%s,d=%u", walk, distance);
  count = 0;
  if (gfsmith_adaptive_force(adaptive, policy) != GFSMITH_OK ||
      gfsmith_encode(codec, len, src, dst) != GFSMITH_OK)
    fail("refused", 0);
  /* The longest part in which every line has a prefetch target in the call. */
  size_t turn = (size_t)lines * 64, turns = len / turn;
  size_t ahead = first > 0 ? 0 : ((size_t)lines * k - 1 + distance) / ((size_t)lines * k);
  if (first == 0 && count != (turns > ahead ? (turns - ahead) * lines * k : 0))
    fail("another number of visits", count);
  if (first == 0)
    one_distance();
  else
    two_distances(lines);
}

static void lengths(gfsmith_adaptive *adaptive, gfsmith_codec *codec, unsigned lines) {
  static const size_t all[] = {63, 64, 255, 256, 257, 512, 1024, 1536, 2048, 4096 + 33};
  for (size_t n = 0; n < sizeof all / sizeof all[0]; n++) {
    len = all[n];
    run(adaptive, codec, lines);
  }
}

/* Checks the visits of a batch: those of a stripe but the last, then of the last. */
static void check_stripes(unsigned stripes, size_t pitch, unsigned lines) {
  size_t round = (size_t)lines * k, turns = len / ((size_t)lines * 64);
  size_t ahead = (round - 1 + distance) / round, all = turns * round;
  size_t piped = turns > ahead ? (turns - ahead) * round : 0;
  if (count != (stripes - 1) * all + piped)
    fail("another number of visits of stripes", count);
  for (size_t n = 0; n < count; n++) {
    size_t stripe = n / all, v = n % all;
    if (visits[n].line != visits[v].line + stripe * pitch)
      fail("visits another line of the stripes", n);
    bool here = v < piped;
    size_t other = here ? v + distance : v - piped;
    if (visits[n].asked != visits[other].line + (here ? stripe : stripe + 1) * pitch)
      fail("prefetches another line of the stripes", n);
  }
}

static void batches(gfsmith_adaptive *adaptive, gfsmith_codec *codec, unsigned lines) {
  enum { STRIPES = 3 };
  static const size_t all[] = {63, 64, 257, 512, 1024, 1536 + 33};
  const uint8_t *sources[STRIPES * K_MAX];
  uint8_t *parities[STRIPES * 12];
  char policy[64];
  snprintf(policy, sizeof policy, "%s,d=%u", walk, distance);
  for (size_t n = 0; n < sizeof all / sizeof all[0]; n++) {
    len = all[n];
    for (unsigned s = 0; s < STRIPES; s++) {
      for (unsigned j = 0; j < k; j++)
        sources[s * k + j] = src[j] + s * len;
      for (unsigned i = 0; i < m; i++)
        parities[s * m + i] = dst[i] + s * len;
    }
    count = 0;
    if (gfsmith_adaptive_force(adaptive, policy) != GFSMITH_OK ||
        gfsmith_encode_stripes(codec, len, STRIPES, sources, parities) != GFSMITH_OK)
      fail("refused", 0);
    check_stripes(STRIPES, len, lines);
  }
}

/* With `pages`: checks that the kernel of rows visits the whole pages, and the shuffled one the
 * rest, and that neither prefetches lines of the other part. */
static void whole_pages(gfsmith_adaptive *adaptive, gfsmith_codec *codec) {
  static const size_t rests[] = {0, 64, 512, 600, 904};
  static const unsigned shuffled[] = {4, 3, 5, 2, 6, 1, 7, 0};
  enum { PAGE = 4096, ROW = 64, TURN = 512 };
  char policy[64];
  walk = "row,pages";
  snprintf(policy, sizeof policy, "row,d=%u,pages", distance);
  for (size_t r = 0; r < sizeof rests / sizeof rests[0]; r++) {
    len = PAGE + rests[r];
    count = 0;
    if (gfsmith_adaptive_force(adaptive, policy) != GFSMITH_OK ||
        gfsmith_encode(codec, len, src, dst) != GFSMITH_OK)
      fail("refused", 0);
    size_t behind = (k - 1 + distance) / k, rows = behind < 64 ? (64 - behind) * k : 0;
    size_t turns = rests[r] / TURN, missed = (8 * k - 1 + distance) / (8 * k);
    if (count != rows + (turns > missed ? (turns - missed) * 8 * k : 0))
      fail("another number of visits", count);
    for (size_t n = 0; n < count; n++) {
      size_t v = n < rows ? n : n - rows, source = v % k;
      size_t at = n < rows ? v / k * ROW : PAGE + v / (8 * k) * TURN + shuffled[v / k % 8] * ROW;
      if (visits[n].source != source || visits[n].line != src[source] + at)
        fail("visits another line", n);
      if (!inside(visits[n].asked))
        fail("prefetches outside of the call", n);
      bool before = false;
      for (unsigned j = 0; j < k; j++)
        before = before || (visits[n].asked >= src[j] && visits[n].asked < src[j] + PAGE);
      if (before != (n < rows))
        fail("prefetches the other part", n);
    }
  }
}

int main(int argc, char **argv) {
  static const struct {
    const char *walk;
    unsigned lines;
  } walks[] = {{"row", 1}, {"rows4", 4}, {"block", 4}, {"block-shuffled", 4}, {"shuffled", 8}};
  static const unsigned ks[] = {1, 2, 3, 5, 28, 64}, distances[] = {0, 1, 7, 28, 29, 64, 300, 1000};
  gfsmith_adaptive_options options;
  gfsmith_adaptive_defaults(&options);
  options.counters = 0;
  options.device = argc > 1 ? argv[1] : NULL; /* lines of 256 bytes */
  gfsmith_adaptive *adaptive;
  if (gfsmith_adaptive_create(&adaptive, &options) != GFSMITH_OK ||
      gfsmith_set_isa("scalar") != GFSMITH_OK)
    return 2;
  fake_set_watcher = watch;
  size_t cases = 0;
  for (size_t a = 0; a < sizeof ks / sizeof ks[0]; a++)
    for (m = 1; m <= 12; m += 11) { /* one pass, and two with chunks */
      gfsmith_codec *codec;
      k = ks[a];
      if (gfsmith_codec_create(&codec, "cauchy", k, m) != GFSMITH_OK ||
          gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING) != GFSMITH_OK ||
          gfsmith_codec_adaptive(codec, adaptive) != GFSMITH_OK)
        return 2;
      for (unsigned j = 0; j < k; j++)
        src[j] = shards[j] + j * 37 % 256;
      for (unsigned i = 0; i < m; i++)
        dst[i] = shards[K_MAX + i] + i;
      for (size_t w = 0; w < sizeof walks / sizeof walks[0]; w++)
        for (size_t d = 0; d < sizeof distances / sizeof distances[0]; d++) {
          walk = walks[w].walk;
          distance = distances[d];
          first = 0;
          lengths(adaptive, codec, walks[w].lines);
          batches(adaptive, codec, walks[w].lines);
          first = k + 4;
          if (walks[w].lines >= 4 && k <= 28 && distance > 0 && distance <= 64)
            lengths(adaptive, codec, walks[w].lines);
          cases += 2;
        }
      for (size_t d = 0; d < sizeof distances / sizeof distances[0]; d++) {
        distance = distances[d];
        first = 0;
        whole_pages(adaptive, codec);
        cases++;
      }
      gfsmith_codec_destroy(codec);
    }
  gfsmith_adaptive_destroy(adaptive);
  printf("%zu cases\n", cases);
  return 0;
}
