/* simulation: the agent and the chunk servers of a store in one process, with virtual time. Each
 * seed is one run, in a child process. See apps/stripe-store/README.md. */
#include "clients.h"
#include "common/table.h"
#include "faults.h"
#include "history.h"
#include "memcached.h"

#include <event2/event.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALM = 60, LONGEST = 5, LINKS = 6, HARSH = 7, POWER = 4, LISTS = 16, SLOW = 9 };

static const shape shapes[] = {
    {"rs", 2, 1, 1, "-m 1"},
    {"rs", 3, 2, 2, "-m 2"},
    {"lrc", 3, 3, 2, "--groups 2 --global 1"},
    {"ppr", 3, 2, 2, "-m 2"},
    {"ecpipe", 3, 2, 2, "-m 2 --slice 16"},
    {"triec", 3, 2, 2, "-m 2"},
};

void *__wrap_malloc(size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

static uint64_t limit;
static unsigned deletions; /* acknowledged ones at the beginning of a wait */

static bool is_over(void) { return world_now() >= limit; }

static void require(bool done, const char *what) {
  if (!done && is_over())
    world_fail("%d s after the last fault %s: %s", CALM, what, clients_error());
}

static bool rested(void) {
  require(clients_rested(), "no value is accepted, or a command has no answer");
  return clients_rested();
}

static bool have_read(void) {
  require(clients_have_read(), "a read has no answer");
  return clients_have_read();
}

/* ---- randomness of libsodium ----------------------------------------------------------------- */

static const char *name(void) { return "simulation"; }
static uint32_t word(void) { return (uint32_t)world_random(UINT64_C(1) << 32); }
static void fill(void *const bytes, const size_t count) {
  for (size_t i = 0; i < count; i++)
    ((uint8_t *)bytes)[i] = (uint8_t)world_random(256);
}

static struct randombytes_implementation randomness = {
    .implementation_name = name, .random = word, .buf = fill};

/* libevent's warnings of failed allocations */
static void ignore(int severity, const char *text) {
  (void)severity;
  (void)text;
}

/* ---- one seed -------------------------------------------------------------------------------- */

static void rest(void) {
  clients_rest();
  limit = world_now() + CALM * SECOND;
  world_run(rested);
}

static bool has_deleted(void) { return is_over() || clients_deletions() > deletions; }

/* Clients work while nothing fails, until the power of all machines is cut, often right after an
 * acknowledged deletion. */
static void go_back(void) {
  clients_go_on();
  faults_remember();
  limit = world_now() + world_between(10 * MS, SECOND / 2);
  world_run(is_over);
  if (world_chance(700)) {
    deletions = clients_deletions();
    limit = world_now() + SECOND;
    world_run(has_deleted);
  }
  faults_go_back();
  rest();
}

static void run(uint64_t seed, bool prints) {
  world_begin(seed, prints);
  if (seed % LISTS == SLOW)
    memcached_list_slowly();
  machines_start(&shapes[seed % (sizeof shapes / sizeof *shapes)]);
  clients_begin();
  limit = world_now() + world_random(SECOND);
  world_run(is_over);
  faults_begin(seed % HARSH == 1);
  limit = world_now() + world_between(SECOND, LONGEST * SECOND);
  world_run(is_over);
  faults_end();
  rest();
  for (uint64_t times = seed % HARSH == 1 ? 0 : world_random(POWER); times > 0; times--)
    go_back();
  limit = world_now() + CALM * SECOND;
  clients_read_all();
  world_run(have_read);
  limit = world_now() + LINKS * SECOND; /* all links are back */
  world_run(is_over);
  faults_audit();
  limit = world_now() + CALM * SECOND;
  clients_read_all();
  world_run(have_read);
  history_check(clients_keys());
}

/* Run a seed in a child; its counts come through a pipe. False: it has failed. */
static bool try(uint64_t seed, bool prints, counts *out) {
  int ends[2], status;
  fflush(stdout);
  if (pipe(ends) != 0)
    exit(2);
  pid_t child = fork();
  if (child == 0) {
    const struct rlimit seconds = {60, 60};
    setrlimit(RLIMIT_CPU, &seconds);
    run(seed, prints);
    bool written = write(ends[1], &world_counts, sizeof world_counts) == sizeof world_counts;
    fflush(stdout);
    _exit(written ? 0 : 2);
  }
  close(ends[1]);
  bool done = read(ends[0], out, sizeof *out) == sizeof *out;
  close(ends[0]);
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    printf("ended by signal %d\n", WTERMSIG(status));
  return done && status == 0;
}

/* The ways to run seeds: all of them, all with the hashes of their traces, up to the first failure.
 */
typedef enum way { ALL, HASHES, FIND } way;

static int run_all(const char *program, way how, uint64_t first, uint64_t count) {
  counts sum = {0}, one;
  uint64_t failed = 0, seed = first;
  for (; seed < first + count && (how != FIND || failed == 0); seed++) {
    if (!try(seed, false, &one)) {
      printf("seed %" PRIu64 " has failed; replay: %s --trace %" PRIu64 "\n", seed, program, seed);
      failed++;
      continue;
    }
    if (how == HASHES)
      printf("seed %" PRIu64 ": %016" PRIx64 "\n", seed, one.hash);
    sum.events += one.events;
    sum.operations += one.operations;
    sum.unknown += one.unknown;
    sum.faults += one.faults;
    sum.lost += one.lost;
  }
  printf("%" PRIu64 " seeds, %" PRIu64 " failed; %" PRIu64 " operations, %" PRIu64
         " without a known outcome; %" PRIu64 " faults, %" PRIu64 " events; %" PRIu64
         " reads of lost values\n",
         seed - first, failed, sum.operations, sum.unknown, sum.faults, sum.events, sum.lost);
  return failed > 0;
}

static uint64_t number(const char *text) { return strtoull(text, NULL, 10); }

int main(int argc, char **argv) {
  static const char *const ways[] = {"--seeds", "--hashes", "--find"};
  counts one;
  randombytes_set_implementation(&randomness);
  table_hash("", 0); /* which draws its secret, so that no seed does */
  event_set_mem_functions(__wrap_malloc, __wrap_realloc, free);
  event_set_log_callback(ignore);
  if (argc == 3 && strcmp(argv[1], "--trace") == 0)
    return try(number(argv[2]), true, &one) ? 0 : 1;
  for (way how = ALL; how <= FIND; how++)
    if (argc == 4 && strcmp(argv[1], ways[how]) == 0)
      return run_all(argv[0], how, number(argv[2]), number(argv[3]));
  fputs("usage: run --trace SEED\n"
        "       run --seeds|--hashes|--find FIRST COUNT\n"
        "exit status: 0 no seed has failed; 1 one has; 2 refused\n",
        stderr);
  return 2;
}
