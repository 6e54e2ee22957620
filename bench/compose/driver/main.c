/* A driver of bench.compose: one rank. It executes commands, one per line on stdin, and prints one
 * JSON object per line on stdout. Python decides the order of measurements and evaluates them.
 *
 *   driver RANK ROUNDS PROVIDER           ROUNDS: the file of the shared page; first line of stdin:
 *                                        the key, in hex
 *
 *   peer RANK PORT                       port of another driver
 *   connect MILLISECONDS                 connect to all peers
 *   open SCHEME K M L R LOST LENGTH SLICE WINDOW
 *                                        open a cell, one at a time; LOST -1: encode. Prints its
 *                                        graph in the form of gfsmith_graph_json
 *   choices PATH                         of `run ... hybrid`; "-": none
 *   roles PART LEAF SINK                 masks of ranks
 *   run JOB COUNT composed|incoherent|hybrid
 *   counts                               the counts of this rank's last operation
 *   close
 *   calc INPUTS OUTPUTS LENGTH COUNT     nanoseconds of an encoding without a network */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cell.h"

enum { LINE = 1024 };

typedef struct driver {
  gfsmith_node *node;
  rounds *rounds;
  cell cell;
  bool open;
  uint32_t peers;
  gfsmith_trace last;
} driver;

static bool fail(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  fprintf(stderr, "driver: ");
  vfprintf(stderr, format, rest);
  fprintf(stderr, "\n");
  va_end(rest);
  return false;
}

static bool done(void) {
  puts("{}");
  return true;
}

static bool do_peer(driver *this, const char *words) {
  unsigned rank, port;
  if (sscanf(words, "%u %u", &rank, &port) != 2 || rank >= RANKS || port > UINT16_MAX)
    return fail("peer RANK PORT");
  int status = gfsmith_node_peer(this->node, (uint16_t)rank, "127.0.0.1", (uint16_t)port);
  this->peers |= 1u << rank;
  return status == GFSMITH_OK ? done() : fail("peer: %s", gfsmith_compose_strerror(status));
}

static bool do_connect(driver *this, const char *words) {
  uint64_t until = rounds_now() + strtoull(words, NULL, 10) * 1000000u;
  const struct timespec nap = {.tv_nsec = 2000000};
  for (unsigned rank = 0; rank < RANKS; rank++)
    while ((this->peers >> rank & 1) && !gfsmith_node_connected(this->node, (uint16_t)rank)) {
      if (rounds_now() > until)
        return fail("rank %u does not answer", rank);
      nanosleep(&nap, NULL);
    }
  return done();
}

static bool do_open(driver *this, const char *words) {
  shape shape = {.k = 0};
  char reason[REASON] = "";
  int found = sscanf(words, "%15s %u %u %u %u %d %zu %zu %u", shape.scheme, &shape.k, &shape.m,
                     &shape.l, &shape.r, &shape.lost, &shape.length, &shape.slice, &shape.window);
  if (found != 9 || shape.window < 1 || shape.window > WINDOW_MAX || this->open ||
      shape.k + shape.m >= RANKS)
    return fail("open SCHEME K M L R LOST LENGTH SLICE WINDOW, and none is open");
  this->open = cell_open(&this->cell, this->node, &shape, reason);
  return this->open ? done() : fail("%s", reason);
}

static bool do_graph(const driver *this) {
  size_t size = gfsmith_graph_json(this->cell.graph, NULL, 0) + 1;
  char *text = malloc(size);
  if (text == NULL)
    return fail("no memory");
  gfsmith_graph_json(this->cell.graph, text, size);
  for (char *at = text; *at != 0; at++)
    if (*at == '\n')
      *at = ' ';
  puts(text);
  free(text);
  return true;
}

static bool do_roles(driver *this, const char *words) {
  roles *roles = &this->cell.roles;
  int found =
      sscanf(words, "%" SCNu32 " %" SCNu32 " %" SCNu32, &roles->part, &roles->leaf, &roles->sink);
  return found == 3 ? done() : fail("roles PART LEAF SINK");
}

static bool do_choices(driver *this, const char *words) {
  char path[LINE], reason[GFSMITH_REASON_MAX] = "";
  if (sscanf(words, "%1023s", path) != 1)
    return fail("choices PATH");
  gfsmith_choices_destroy(this->cell.choices);
  this->cell.choices = NULL;
  if (strcmp(path, "-") != 0 &&
      gfsmith_choices_read(&this->cell.choices, path, reason) != GFSMITH_OK)
    return fail("%s", reason);
  return done();
}

static bool do_run(driver *this, const char *words) {
  cell_run run = {.job = 0};
  char how[16] = "", reason[REASON] = "";
  if (sscanf(words, "%" SCNu64 " %u %15s", &run.job, &run.count, how) != 3 || run.count > ROUNDS)
    return fail("run JOB COUNT composed|incoherent|hybrid");
  run.way = strcmp(how, "incoherent") == 0 ? CELL_INCOHERENT
            : strcmp(how, "hybrid") == 0   ? CELL_HYBRID
                                           : CELL_COMPOSED;
  if (!cell_go(&this->cell, this->rounds, &run, reason))
    return fail("%s", reason);
  return done();
}

static void on_trace(void *context, const gfsmith_trace *trace) {
  ((driver *)context)->last = *trace;
}

/* Before the outcome of an operation is reported its trace has been written, so this thread may
 * read it when the run is over. */
static bool do_counts(const driver *this) {
  const gfsmith_trace *t = &this->last;
  printf("{\"primitive\": %d, \"calculator\": %d, \"incoherent\": %s, \"receives\": %u, "
         "\"sends\": %u, \"slices\": %zu",
         (int)t->primitive, (int)t->calculator, t->incoherent ? "true" : "false", t->receives,
         t->sends, t->slices);
  const struct {
    const char *name;
    uint64_t value;
  } counts[] = {{"products", t->products},           {"copied", t->copied},
                {"messages_sent", t->messages_sent}, {"messages_received", t->messages_received},
                {"writes_sent", t->writes_sent},     {"writes_received", t->writes_received},
                {"bytes_sent", t->bytes_sent},       {"bytes_received", t->bytes_received},
                {"involvements", t->involvements},   {"activations", t->activations}};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    printf(", \"%s\": %" PRIu64, counts[i].name, counts[i].value);
  puts("}");
  return true;
}

/* The result is the least time of a few batches: the processor's speed without disturbances. */
static bool do_calc(const char *words) {
  shape shape = {.k = 0};
  unsigned count;
  if (sscanf(words, "%u %u %zu %u", &shape.k, &shape.m, &shape.length, &count) != 4 || count == 0)
    return fail("calc INPUTS OUTPUTS LENGTH COUNT");
  gfsmith_codec *codec = NULL;
  unsigned shards = shape.k + shape.m;
  uint8_t *memory = aligned_alloc(64, shards * cell_pitch(shape.length)),
          *shard[GFSMITH_MAX_SHARDS];
  if (memory == NULL || cell_codec(&codec, &shape) != GFSMITH_OK) {
    free(memory);
    return fail("calc: no memory or no such code");
  }
  memset(memory, 1, shards * cell_pitch(shape.length));
  for (unsigned j = 0; j < shards; j++)
    shard[j] = memory + j * cell_pitch(shape.length);
  uint64_t least = UINT64_MAX;
  for (unsigned batch = 0; batch < 9; batch++) {
    uint64_t start = rounds_now();
    for (unsigned n = 0; n < count; n++)
      gfsmith_encode(codec, shape.length, (const uint8_t *const *)shard, shard + shape.k);
    uint64_t took = rounds_now() - start;
    least = took < least ? took : least;
  }
  printf("{\"ns\": %.1f}\n", (double)least / count);
  gfsmith_codec_destroy(codec);
  free(memory);
  return true;
}

static bool obey(driver *this, char *line) {
  char word[16] = "";
  int length = 0;
  sscanf(line, "%15s %n", word, &length);
  const char *rest = line + length;
  if (strcmp(word, "peer") == 0)
    return do_peer(this, rest);
  if (strcmp(word, "connect") == 0)
    return do_connect(this, rest);
  if (strcmp(word, "open") == 0)
    return do_open(this, rest);
  if (strcmp(word, "calc") == 0)
    return do_calc(rest);
  if (!this->open)
    return fail("%s: no cell is open", word);
  if (strcmp(word, "graph") == 0)
    return do_graph(this);
  if (strcmp(word, "roles") == 0)
    return do_roles(this, rest);
  if (strcmp(word, "choices") == 0)
    return do_choices(this, rest);
  if (strcmp(word, "run") == 0)
    return do_run(this, rest);
  if (strcmp(word, "counts") == 0)
    return do_counts(this);
  if (strcmp(word, "close") != 0)
    return fail("no such command: %s", word);
  cell_close(&this->cell);
  this->open = false;
  return done();
}

static size_t read_key(uint8_t *key) {
  char line[LINE];
  size_t bytes = 0;
  if (fgets(line, sizeof line, stdin) == NULL)
    return 0;
  while (bytes < GFSMITH_KEY_MAX && sscanf(line + 2 * bytes, "%2hhx", &key[bytes]) == 1)
    bytes++;
  return bytes;
}

int main(int count, char **words) {
  if (count != 4)
    return fail("driver RANK ROUNDS PROVIDER"), 2;
  unsigned rank = (unsigned)strtoul(words[1], NULL, 10);
  uint8_t key[GFSMITH_KEY_MAX];
  driver this = {.rounds = rank < RANKS ? rounds_map(words[2], rank) : NULL};
  if (this.rounds == NULL)
    return fail("cannot map the shared page, or rank %u is too high", rank), 1;
  gfsmith_node_options options;
  gfsmith_node_defaults(&options);
  options.provider = words[3];
  options.rank = (uint16_t)rank;
  options.key = key;
  options.key_bytes = read_key(key);
  options.triggers = true; /* as in the paper, where the provider has them */
  options.trace = on_trace;
  options.context = &this;
  char reason[GFSMITH_REASON_MAX] = "", line[LINE];
  if (gfsmith_node_create(&this.node, &options, reason) != GFSMITH_OK)
    return fail("%s", reason), 1;
  printf("{\"port\": %u}\n", gfsmith_node_port(this.node));
  fflush(stdout);
  bool good = true;
  while (good && fgets(line, sizeof line, stdin) != NULL) {
    good = obey(&this, line);
    fflush(stdout);
  }
  if (this.open)
    cell_close(&this.cell);
  gfsmith_node_destroy(this.node);
  return good ? 0 : 1;
}
