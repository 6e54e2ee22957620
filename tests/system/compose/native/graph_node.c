/* One rank of graphs, as a separate process: graph_node PROVIDER RANK. Commands on stdin, one per
 * line:
 *
 *   peer RANK PORT              the port of another rank
 *   linked RANK                 report when the link to it is up
 *   halt MOMENT COUNT           at the event after COUNT others of its kind, report and wait
 *   post ID MILLISECONDS CASE   post its part of a case (graph_case.c); prints "posted" when the
 *                               engine has it
 *   go                          continue after a halt
 *
 * Output, one per line: port PORT; linked RANK; posted; halted; over STATUS RANK WORDS, in which
 * RANK is the rank to blame, and WORDS the reason, or "right" or "wrong" for its shards.
 *
 * Moments are calls within the library, which the linker redirects (--wrap): the engine stops until
 * the process gets "go" or is killed. */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compute.h"
#include "graph_case.h"
#include "node.h"
#include "transfer.h"

typedef enum moment { NEVER, GRANTED, WRITE, SENT, LANDED, COMPUTE } moment;
static const char *const moments[] = {"never", "granted", "write", "sent", "landed", "compute"};

static _Atomic moment halt;
static atomic_uint halt_after;
static sem_t go;
static gfsmith_node *node;
static graph_case run;

static void say(const char *what) {
  puts(what);
  fflush(stdout);
}

/* ---- moments ---- */

static void reach(moment here) {
  if (atomic_load(&halt) != here || atomic_fetch_sub(&halt_after, 1) != 0)
    return;
  atomic_store(&halt, NEVER);
  say("halted");
  while (sem_wait(&go) != 0)
    continue;
}

void __real_gfc_send_granted(gfc_end *end, const gfc_grant *grant);
void __wrap_gfc_send_granted(gfc_end *end, const gfc_grant *grant);
void __wrap_gfc_send_granted(gfc_end *end, const gfc_grant *grant) {
  reach(GRANTED);
  __real_gfc_send_granted(end, grant);
}

int __real_gfc_write(gfc_engine *engine, uint16_t rank, const gfc_writing *writing);
int __wrap_gfc_write(gfc_engine *engine, uint16_t rank, const gfc_writing *writing);
int __wrap_gfc_write(gfc_engine *engine, uint16_t rank, const gfc_writing *writing) {
  reach(WRITE);
  return __real_gfc_write(engine, rank, writing);
}

void __real_gfc_send_over(gfc_end *end, int status);
void __wrap_gfc_send_over(gfc_end *end, int status);
void __wrap_gfc_send_over(gfc_end *end, int status) {
  reach(SENT);
  __real_gfc_send_over(end, status);
}

void __real_gfc_receive_landed(gfc_end *end, size_t s);
void __wrap_gfc_receive_landed(gfc_end *end, size_t s);
void __wrap_gfc_receive_landed(gfc_end *end, size_t s) {
  reach(LANDED);
  __real_gfc_receive_landed(end, s);
}

int __real_gfc_compute(gfsmith_operation *operation, size_t s, size_t *room, bool *whole);
int __wrap_gfc_compute(gfsmith_operation *operation, size_t s, size_t *room, bool *whole);
int __wrap_gfc_compute(gfsmith_operation *operation, size_t s, size_t *room, bool *whole) {
  reach(COMPUTE);
  return __real_gfc_compute(operation, s, room, whole);
}

/* ---- commands ---- */

static int do_peer(const char *words) {
  unsigned rank, port;
  return sscanf(words, "%u %u", &rank, &port) == 2 &&
         gfsmith_node_peer(node, (uint16_t)rank, "127.0.0.1", (uint16_t)port) == GFSMITH_OK;
}

static int do_linked(const char *words) {
  unsigned rank = (unsigned)strtoul(words, NULL, 10);
  while (!gfsmith_node_connected(node, (uint16_t)rank))
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  printf("linked %u\n", rank);
  fflush(stdout);
  return true;
}

static int do_halt(const char *words) {
  char name[16];
  unsigned count;
  if (sscanf(words, "%15s %u", name, &count) != 2)
    return false;
  for (size_t n = GRANTED; n < sizeof moments / sizeof *moments; n++) {
    if (strcmp(name, moments[n]) != 0)
      continue;
    atomic_store(&halt_after, count);
    atomic_store(&halt, (moment)n);
    return true;
  }
  return false;
}

static void over(void *context, const gfsmith_outcome *outcome) {
  (void)context;
  const char *words = outcome->reason;
  if (outcome->status == GFSMITH_OK)
    words = graph_case_right(&run, gfsmith_node_rank(node)) ? "right" : "wrong";
  printf("over %d %d %s\n", outcome->status, outcome->rank, words);
  fflush(stdout);
}

static void posted(void *observer, void *context) {
  (void)observer;
  (void)context;
  say("posted");
}

/* The former job is over, since Python has read its line. The engine executes its input in order.
 */
static int do_post(const char *words) {
  unsigned long long id;
  unsigned ms;
  int length = 0;
  char line[2048];
  if (sscanf(words, "%llu %u %n", &id, &ms, &length) != 2)
    return false;
  snprintf(line, sizeof line, "%s", words + length);
  graph_case_close(&run);
  if (!graph_case_open(&run, line))
    return false;
  const gfsmith_notice notice = {.done = over};
  int status = gfsmith_graph_post(node, run.graph, id, ms, run.length, run.slice,
                                  run.shards[gfsmith_node_rank(node)], &notice);
  return status == GFSMITH_OK && gfc_run(node->engine, posted, NULL) == GFSMITH_OK;
}

static int do_go(const char *words) {
  (void)words;
  atomic_store(&halt, NEVER);
  return sem_post(&go) == 0;
}

static const struct {
  const char *name;
  int (*run)(const char *words);
} commands[] = {
    {"peer", do_peer}, {"linked", do_linked}, {"halt", do_halt}, {"post", do_post}, {"go", do_go}};

static bool obey(const char *line) {
  for (size_t n = 0; n < sizeof commands / sizeof *commands; n++) {
    size_t length = strlen(commands[n].name);
    if (strncmp(line, commands[n].name, length) == 0)
      return commands[n].run(line + length);
  }
  return false;
}

int main(int count, char **words) {
  static const uint8_t key[GFSMITH_KEY_MIN] = {1};
  char line[2048], reason[GFSMITH_REASON_MAX];
  gfsmith_node_options options;
  if (count != 3 || sem_init(&go, 0, 0) != 0)
    return 2;
  gfsmith_node_defaults(&options);
  options.provider = words[1];
  options.rank = (uint16_t)strtoul(words[2], NULL, 10);
  options.key = key;
  options.key_bytes = sizeof key;
  options.connect_ms = 20000;
  if (gfsmith_node_create(&node, &options, reason) != GFSMITH_OK) {
    fprintf(stderr, "%s\n", reason);
    return 1;
  }
  printf("port %u\n", gfsmith_node_port(node));
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (!obey(line)) {
      fprintf(stderr, "rank %s cannot: %s", words[2], line);
      return 1;
    }
  }
  gfsmith_node_destroy(node);
  graph_case_close(&run);
  return 0;
}
