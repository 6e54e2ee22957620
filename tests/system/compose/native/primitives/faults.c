/* Random jobs over a mock network, each with one fault at a random moment: every operation ends
 * once and in time, with an allowed status; an operation that reports success has the right bytes;
 * no resources remain. */
#include "mock.h"
#include "operation.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEADLINE = 30000, SLACK = GFC_GRACE_MS + 1 };

typedef struct run {
  random_source random;
  mock *world;
  scenario jobs;
  bool posted[RANKS];
  int refused[RANKS];
  gfsmith_operation *operation[RANKS];
  mock_fault fault;
  unsigned steps, cancel_step, victim;
  bool canceled;
  bool early; /* posted before links are up: a peer is not notified of an operation refused then */
} run;

static bool may_be(const run *run, int status) {
  if (run->early && run->fault != FAULT_NONE &&
      (status == GFSMITH_ETIMEDOUT || status == GFSMITH_EPEER))
    return true;
  switch (run->fault) {
  case FAULT_NONE:
    return false;
  case FAULT_KILL:
    return status == GFSMITH_EPEER;
  case FAULT_LINK:
    return status == GFSMITH_EPEER || status == GFSMITH_ETIMEDOUT;
  case FAULT_SILENT:
    return status == GFSMITH_ETIMEDOUT;
  case FAULT_PAYLOAD:
  case FAULT_TRAILER:
  case FAULT_SHORT:
  case FAULT_PLACE:
  case FAULT_TURN:
  case FAULT_ORDER:
    return status == GFSMITH_ECORRUPT;
  case FAULT_SKIP:
    return status == GFSMITH_ECORRUPT || status == GFSMITH_ETIMEDOUT;
  case FAULT_CANCEL:
    return status == GFSMITH_ECANCELED;
  default:
    return status < 0;
  }
}

/* Returns true if some ranks cannot learn of this fault immediately. */
static bool takes_time(const run *run) {
  return run->early || run->fault == FAULT_KILL || run->fault == FAULT_LINK ||
         run->fault == FAULT_SILENT || run->fault == FAULT_SKIP || run->fault >= FAULT_BABBLE;
}

static bool finished(const run *run) {
  for (unsigned rank = 0; rank < run->jobs.vertices; rank++) {
    if (mock_alive(run->world, rank) &&
        (!run->posted[rank] || run->jobs.vertex[rank].calls + (run->refused[rank] != 0) == 0))
      return false;
  }
  return true;
}

static void maybe_post(run *run) {
  unsigned rank = below(&run->random, run->jobs.vertices);
  if (run->posted[rank] || below(&run->random, 4) != 0)
    return;
  run->posted[rank] = true;
  if (mock_alive(run->world, rank))
    run->refused[rank] =
        scenario_post(&run->jobs, rank, mock_node(run->world, rank), &run->operation[rank]);
}

static void maybe_cancel(run *run) {
  if (run->fault != FAULT_CANCEL || run->steps < run->cancel_step || run->canceled ||
      run->operation[run->victim] == NULL)
    return;
  run->canceled = true;
  gfsmith_operation_cancel(run->operation[run->victim]);
}

static void check(const run *run) {
  unsigned wrong = 0;
  for (unsigned rank = 0; rank < run->jobs.vertices; rank++) {
    const vertex *v = &run->jobs.vertex[rank];
    if (!mock_alive(run->world, rank))
      continue;
    if (run->refused[rank] != 0) {
      REQUIRE(run->fault == FAULT_MEMORY && v->calls == 0, "rank %u: %d", rank, run->refused[rank]);
      wrong++;
      continue;
    }
    REQUIRE(v->calls == 1, "rank %u got %u reports", rank, v->calls);
    if (v->outcome.status == GFSMITH_OK)
      scenario_check(&run->jobs, rank);
    else
      REQUIRE(may_be(run, v->outcome.status) && v->outcome.reason[0] != 0, "rank %u: %d (%s)", rank,
              v->outcome.status, v->outcome.reason);
    wrong += v->outcome.status != GFSMITH_OK;
  }
  if (mock_met(run->world) && run->fault >= FAULT_PAYLOAD && run->fault <= FAULT_ORDER)
    REQUIRE(wrong > 0, "a wrong write was accepted");
  unsigned long long late = takes_time(run) ? DEADLINE + SLACK : 0;
  REQUIRE(mock_time(run->world) <= MOCK_START + late, "too late");
}

static void check_empty(run *run) {
  for (unsigned rank = 0; rank < run->jobs.vertices; rank++) {
    const gfc_operations *all = mock_node(run->world, rank)->operations;
    if (!mock_alive(run->world, rank))
      continue;
    mock_clean(run->world, rank);
    REQUIRE(all->list == NULL && all->ends == NULL && all->unused_count == all->slots,
            "rank %u: resources remain", rank);
    REQUIRE(all->pending.grants == NULL || run->fault == FAULT_BABBLE ||
                run->fault == FAULT_MEMORY || run->fault == FAULT_SILENT,
            "rank %u: grants of operations that are over", rank);
  }
}

/* @return true if the fault occurred */
static bool one_run(uint64_t seed, mock_fault fault) {
  static const size_t lengths[] = {0, 1, 31, 64, 100, 257, 1000};
  run run = {.random = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1}, .fault = fault};
  unsigned nodes = 2 + below(&run.random, RANKS - 1);
  size_t length = lengths[below(&run.random, 7)];
  size_t slice = below(&run.random, 2) == 0 ? 0 : 1 + below(&run.random, 300);
  if (fault >= FAULT_PLACE && fault <= FAULT_ORDER) { /* a fault of slices needs more than one */
    length = 1000;
    slice = 1 + below(&run.random, 100);
  }
  run.world = mock_create(&run.random, nodes, 1 << 24);
  scenario_make(&run.jobs, &run.random, nodes, seed, length, slice);
  run.victim = below(&run.random, nodes);
  run.cancel_step = below(&run.random, 12 * nodes);
  run.early = below(&run.random, 4) == 0;
  while (!run.early && mock_step(run.world, false))
    continue;
  mock_plan(run.world, fault, below(&run.random, 12 * nodes), run.victim);
  for (; !finished(&run); run.steps++) {
    maybe_post(&run);
    maybe_cancel(&run);
    bool all = true;
    for (unsigned rank = 0; rank < nodes; rank++)
      all &= run.posted[rank];
    REQUIRE(mock_step(run.world, all) || !all || finished(&run),
            "no event is possible, and operations are pending");
  }
  check(&run);
  while (mock_step(run.world, true)) /* messages and writes under way */
    continue;
  check_empty(&run);
  bool met = mock_met(run.world) || run.canceled;
  mock_destroy(run.world);
  for (unsigned rank = 0; rank < nodes; rank++)
    gfsmith_operation_release(run.operation[rank]);
  scenario_free(&run.jobs);
  return met;
}

int main(int count, char **words) {
  unsigned long from = strtoul(words[1], NULL, 10), to = strtoul(words[2], NULL, 10);
  unsigned met[FAULTS] = {0};
  if (count != 3)
    return 2;
  for (unsigned long seed = from; seed < to; seed++) {
    mock_fault fault = (mock_fault)(seed % FAULTS);
    fprintf(stderr, "%lu\r", seed);
    met[fault] += one_run(seed, fault);
  }
  fputs("     \r", stderr);
  for (unsigned fault = 0; fault < FAULTS; fault++)
    printf("%u%c", met[fault], fault + 1 < FAULTS ? ' ' : '\n');
  return 0;
}
