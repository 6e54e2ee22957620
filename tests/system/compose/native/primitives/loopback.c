/* Random jobs over loopback: composed and incoherent operations mixed, many jobs at once. */
#include "network.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { AT_ONCE = 16 };

typedef struct by_hand {
  pthread_t thread;
  scenario *jobs;
  unsigned rank;
  gfsmith_node *node;
  bool started;
} by_hand;

typedef struct job {
  scenario jobs;
  gfsmith_operation *operation[RANKS];
  by_hand by_hand[RANKS];
} job;

static void *run_by_hand(void *context) {
  by_hand *one = context;
  int status = scenario_incoherent(one->jobs, one->rank, one->node);
  REQUIRE(status == GFSMITH_OK, "by hand: %d", status);
  return NULL;
}

static void post(job *job, random_source *random, network *network, bool mixed) {
  unsigned start = below(random, job->jobs.vertices);
  for (unsigned n = 0; n < job->jobs.vertices; n++) {
    unsigned rank = (start + n) % job->jobs.vertices;
    by_hand *one = &job->by_hand[rank];
    *one = (by_hand){.jobs = &job->jobs, .rank = rank, .node = network->node[rank]};
    job->operation[rank] = NULL;
    if (mixed && below(random, 2) == 0) {
      one->started = true;
      REQUIRE(pthread_create(&one->thread, NULL, run_by_hand, one) == 0, "no thread");
    } else {
      int status = scenario_post(&job->jobs, rank, one->node, &job->operation[rank]);
      REQUIRE(status == GFSMITH_OK, "rank %u: %s", rank, gfsmith_compose_strerror(status));
    }
  }
}

static void finish(job *job) {
  for (unsigned rank = 0; rank < job->jobs.vertices; rank++) {
    gfsmith_outcome outcome;
    if (job->by_hand[rank].started) {
      pthread_join(job->by_hand[rank].thread, NULL);
      outcome = job->jobs.vertex[rank].outcome;
    } else {
      REQUIRE(gfsmith_operation_wait(job->operation[rank], 60000, &outcome), "it does not end");
      gfsmith_operation_release(job->operation[rank]);
    }
    REQUIRE(outcome.status == GFSMITH_OK, "rank %u: %d: %s", rank, outcome.status, outcome.reason);
    REQUIRE(job->jobs.vertex[rank].calls == 1, "told %u times", job->jobs.vertex[rank].calls);
    scenario_check(&job->jobs, rank);
  }
  scenario_free(&job->jobs);
}

int main(int count, char **words) {
  static const size_t lengths[] = {0, 1, 127, 128, 1000, 4096, 65537, 300000};
  static job jobs[AT_ONCE];
  random_source random = {1};
  network network;
  if (count != 3)
    return 2;
  unsigned rounds = (unsigned)strtoul(words[2], NULL, 10);
  network_create(&network, words[1], RANKS, 0);
  for (unsigned round = 0; round < rounds; round++) {
    for (unsigned n = 0; n < AT_ONCE; n++) {
      size_t length = lengths[below(&random, 8)];
      size_t slice = below(&random, 2) == 0 ? 0 : 1 + length / (1 + below(&random, 50));
      scenario_make(&jobs[n].jobs, &random, 2 + below(&random, RANKS - 1),
                    (uint64_t)round * AT_ONCE + n, length, slice);
    }
    for (unsigned n = 0; n < AT_ONCE; n++)
      post(&jobs[n], &random, &network, round % 2 == 1);
    for (unsigned n = 0; n < AT_ONCE; n++)
      finish(&jobs[n]);
  }
  network_destroy(&network);
  printf("%u jobs\n", rounds * AT_ONCE);
  return 0;
}
