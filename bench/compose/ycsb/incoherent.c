/* Incoherent execution of graphs: the stripe store's programs, linked with this file and
 * --wrap=gfsmith_graph_post, are the baseline of the paper's section IV-B, "the same implementation
 * yet with incoherent EC calculation and networking". Each graph goes to an idle thread, or to a
 * new one if all are busy. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/layout.h"
#include "gfsmith_compose.h"

typedef struct task {
  gfsmith_node *node;
  const gfsmith_graph *graph;
  uint64_t job;
  unsigned deadline_ms;
  size_t length, slice;
  uint8_t *shards[LAYOUT_SHARDS_MAX];
  gfsmith_done *done;
  void *context;
  struct task *next;
} task;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static task *first, **last = &first;
static unsigned idle, queued;

static void run(const task *t) {
  gfsmith_outcome outcome = {.status = GFSMITH_OK, .rank = -1};
  int status = gfsmith_graph_incoherent(t->node, t->graph, t->job, t->deadline_ms, t->length,
                                        t->slice, (uint8_t *const *)t->shards, &outcome);
  if (status != GFSMITH_OK && outcome.status == GFSMITH_OK)
    outcome.status = status;
  if (t->done != NULL)
    t->done(t->context, &outcome);
}

static void *worker(void *unused) {
  (void)unused;
  pthread_mutex_lock(&lock);
  for (;;) {
    while (first == NULL) {
      idle++;
      pthread_cond_wait(&work, &lock);
      idle--;
    }
    task *t = first;
    first = t->next;
    if (first == NULL)
      last = &first;
    queued--;
    pthread_mutex_unlock(&lock);
    run(t);
    free(t);
    pthread_mutex_lock(&lock);
  }
  return NULL;
}

/* Start a thread if there are more graphs than idle threads. */
static bool enough_threads(void) {
  pthread_t thread;
  if (idle >= queued)
    return true;
  if (pthread_create(&thread, NULL, worker, NULL) != 0)
    return false;
  pthread_detach(thread);
  return true;
}

int __wrap_gfsmith_graph_post(gfsmith_node *node, const gfsmith_graph *graph, uint64_t job,
                              unsigned deadline_ms, size_t length, size_t slice,
                              uint8_t *const *shards, const gfsmith_notice *notice);

int __wrap_gfsmith_graph_post(gfsmith_node *node, const gfsmith_graph *graph, uint64_t job,
                              unsigned deadline_ms, size_t length, size_t slice,
                              uint8_t *const *shards, const gfsmith_notice *notice) {
  task *t = malloc(sizeof *t);
  if (t == NULL)
    return GFSMITH_ENOMEM;
  *t = (task){.node = node,
              .graph = graph,
              .job = job,
              .deadline_ms = deadline_ms,
              .length = length,
              .slice = slice,
              .done = notice->done,
              .context = notice->context};
  memcpy(t->shards, shards, sizeof t->shards);
  if (notice->operation != NULL)
    *notice->operation = NULL;
  pthread_mutex_lock(&lock);
  *last = t;
  last = &t->next;
  queued++;
  bool good = enough_threads() || idle > 0;
  pthread_cond_signal(&work);
  pthread_mutex_unlock(&lock);
  return good ? GFSMITH_OK : GFSMITH_ENOMEM;
}
