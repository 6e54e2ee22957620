/* Runs of a cell. To measure latency, one operation runs at a time: every rank announces that it is
 * ready and posts its part, and leaves wait until all ranks are ready. To measure bandwidth, every
 * rank has as many outstanding operations as the window holds. Incoherent and hybrid operations
 * block, so each has its own thread. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cell.h"

enum { DEADLINE = 20000, GARBAGE = 0xA5 };

typedef struct running {
  cell *cell;
  rounds *rounds;
  const cell_run *run;
  char *reason;
  pthread_mutex_t lock; /* of reason */
  bool failed;
} running;

typedef struct lane {
  running *running;
  unsigned first, step;
} lane;

static bool wrong(running *this, unsigned n, const char *what, const gfsmith_outcome *outcome) {
  pthread_mutex_lock(&this->lock);
  if (!this->failed && outcome != NULL)
    snprintf(this->reason, REASON, "operation %u: %s: %s", n,
             gfsmith_compose_strerror(outcome->status), outcome->reason);
  else if (!this->failed)
    snprintf(this->reason, REASON, "operation %u: %s", n, what);
  this->failed = true;
  pthread_mutex_unlock(&this->lock);
  rounds_fail(this->rounds);
  return false;
}

static bool plays(const running *this, uint32_t mask) { return mask >> this->cell->rank & 1; }

/* Announce this rank, if operations run one at a time; then a leaf begins. */
static bool begin(running *this, unsigned n) {
  const roles *roles = &this->cell->roles;
  if (this->cell->shape.window == 1 && !rounds_arrive(this->rounds, roles, this->cell->rank, n))
    return wrong(this, n, "another rank failed", NULL);
  if (plays(this, roles->leaf))
    rounds_begun(this->rounds, n, rounds_now());
  return true;
}

static void end(running *this, unsigned n) {
  if (plays(this, this->cell->roles.sink))
    rounds_over(this->rounds, n, rounds_now());
}

static bool post(running *this, unsigned n, gfsmith_operation **operation) {
  const shape *shape = &this->cell->shape;
  const gfsmith_notice notice = {.operation = operation};
  uint8_t *const *shards = this->cell->shard[n % shape->window];
  *operation = NULL;
  int status = gfsmith_graph_post(this->cell->node, this->cell->graph, this->run->job + n, DEADLINE,
                                  shape->length, shape->slice, shards, &notice);
  return status == GFSMITH_OK || wrong(this, n, gfsmith_compose_strerror(status), NULL);
}

static bool finish(running *this, unsigned n, gfsmith_operation *operation) {
  gfsmith_outcome outcome = {.status = GFSMITH_ETIMEDOUT};
  bool over = gfsmith_operation_wait(operation, 2 * DEADLINE, &outcome);
  end(this, n);
  gfsmith_operation_release(operation);
  return (over && outcome.status == GFSMITH_OK) || wrong(this, n, NULL, &outcome);
}

/* Keep as many operations outstanding as the window holds. */
static bool composed(running *this) {
  gfsmith_operation *posted[WINDOW_MAX];
  unsigned window = this->cell->shape.window, n = 0, done = 0;
  bool good = true;
  while (good && n < this->run->count) {
    if (n - done == window) {
      good = finish(this, done, posted[done % window]);
      done++;
    }
    good = good && begin(this, n) && post(this, n, &posted[n % window]);
    n += good;
  }
  for (; done < n; done++)
    good = finish(this, done, posted[done % window]) && good;
  return good;
}

/* Run one operation in the calling thread, incoherently or in the way that the choices give. */
static int run_one(running *this, unsigned n, gfsmith_outcome *outcome) {
  const cell *cell = this->cell;
  const shape *shape = &cell->shape;
  uint8_t *const *shards = cell->shard[n % shape->window];
  uint64_t job = this->run->job + n;
  if (this->run->way == CELL_HYBRID)
    return gfsmith_graph_run(cell->node, cell->graph, cell->choices, job, DEADLINE, shape->length,
                             shape->slice, shards, outcome);
  return gfsmith_graph_incoherent(cell->node, cell->graph, job, DEADLINE, shape->length,
                                  shape->slice, shards, outcome);
}

static void *blocking_lane(void *context) {
  const lane *lane = context;
  running *this = lane->running;
  bool good = true;
  for (unsigned n = lane->first; good && n < this->run->count; n += lane->step) {
    gfsmith_outcome outcome = {.status = GFSMITH_OK};
    if (!begin(this, n))
      break;
    int status = run_one(this, n, &outcome);
    end(this, n);
    good = status == GFSMITH_OK && outcome.status == GFSMITH_OK;
    if (!good)
      wrong(this, n, gfsmith_compose_strerror(status), status == GFSMITH_OK ? &outcome : NULL);
  }
  return NULL;
}

static bool blocking(running *this) {
  unsigned window = this->cell->shape.window;
  unsigned lanes = window < this->run->count ? window : this->run->count;
  lane lane[WINDOW_MAX];
  pthread_t thread[WINDOW_MAX];
  unsigned started = 1;
  for (unsigned n = 0; n < lanes; n++)
    lane[n] = (struct lane){this, n, lanes};
  for (; started < lanes; started++)
    if (pthread_create(&thread[started], NULL, blocking_lane, &lane[started]) != 0) {
      wrong(this, started, "no thread", NULL);
      break;
    }
  blocking_lane(&lane[0]);
  for (unsigned n = 1; n < started; n++)
    pthread_join(thread[n], NULL);
  return !this->failed;
}

/* True if the outputs of all used places equal the expected ones. */
static bool verified(const cell *cell, unsigned places) {
  const uint8_t *wanted = cell->expected;
  for (unsigned j = 0; j < cell->shape.k + cell->shape.m; j++) {
    if (!cell->gets[j])
      continue;
    for (unsigned place = 0; place < places; place++)
      if (memcmp(cell->shard[place][j], wanted, cell->shape.length) != 0)
        return false;
    wanted += cell_pitch(cell->shape.length);
  }
  return true;
}

bool cell_go(cell *cell, rounds *rounds, const cell_run *run, char *reason) {
  running this = {.cell = cell, .rounds = rounds, .run = run, .reason = reason};
  unsigned places = run->count < cell->shape.window ? run->count : cell->shape.window;
  for (unsigned j = 0; j < cell->shape.k + cell->shape.m; j++)
    for (unsigned place = 0; cell->gets[j] && place < places; place++)
      memset(cell->shard[place][j], GARBAGE, cell->shape.length);
  pthread_mutex_init(&this.lock, NULL);
  bool good = cell->shape.window == 1 || rounds_arrive(rounds, &cell->roles, cell->rank, 0) ||
              wrong(&this, 0, "another rank failed", NULL);
  good = good && (run->way == CELL_COMPOSED ? composed(&this) : blocking(&this));
  pthread_mutex_destroy(&this.lock);
  if (good && plays(&this, cell->roles.sink) && !verified(cell, places)) {
    snprintf(reason, REASON, "wrong bytes");
    return false;
  }
  return good;
}
