/* Nodes whose layer above links only writes down what it is told: in place of operations.c. */
#ifndef HARNESS_H
#define HARNESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "node.h"

/* What a node has been told; under its mutex. */
struct gfc_operations {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  gfsmith_node *node;
  unsigned ups, downs, controls, writes, sents, failed, stops;
  unsigned messages, link_ups, link_downs;
  int status; /* of the last `down` */
  char reason[GFSMITH_REASON_MAX];
  uint32_t last; /* number in the last control message or write */
  bool disorder; /* one that was not the next */
  void (*on_control)(gfc_operations *, uint16_t rank, const void *body, size_t bytes);
};

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                      \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

/* Wait until this holds of a node's record, under its mutex. */
#define UNTIL(record, condition)                                                                   \
  do {                                                                                             \
    struct timespec until_;                                                                        \
    clock_gettime(CLOCK_REALTIME, &until_);                                                        \
    until_.tv_sec += harness_seconds();                                                            \
    pthread_mutex_lock(&(record)->mutex);                                                          \
    while (!(condition))                                                                           \
      if (pthread_cond_timedwait(&(record)->changed, &(record)->mutex, &until_) != 0) {            \
        fprintf(stderr, "%s:%d: never: %s\n", __FILE__, __LINE__, #condition);                     \
        exit(1);                                                                                   \
      }                                                                                            \
    pthread_mutex_unlock(&(record)->mutex);                                                        \
  } while (0)

extern const char *harness_provider;

/* How long UNTIL waits: much longer than it takes, but for mutants (HARNESS_SECONDS). */
int harness_seconds(void);
/* Options of a node with the tests' key. */
gfsmith_node_options harness_options(uint16_t rank);
gfsmith_node *harness_node(uint16_t rank);
gfsmith_node *harness_open(const gfsmith_node_options *options);
gfc_operations *harness_record(gfsmith_node *node);
/* `high`, the one with the higher rank, is told where `low` is; both are up when it returns. */
void harness_link(gfsmith_node *high, gfsmith_node *low);
/* Run in the engine's thread, and wait until it has. */
void harness_run(gfsmith_node *node, void (*work)(gfsmith_node *, void *), void *context);

#endif
