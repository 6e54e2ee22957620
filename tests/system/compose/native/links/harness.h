/* Nodes whose operations are replaced by a log of the events of their links (operations.h). */
#ifndef HARNESS_H
#define HARNESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "node.h"
#include "operations.h"

/* The events that a node has received; protected by its mutex. */
struct gfc_operations {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  gfc_engine *engine;
  unsigned ups, downs, controls, writes, sents, failed, stops;
  unsigned messages, link_ups, link_downs;
  int status; /* of the last `down` */
  char reason[GFSMITH_REASON_MAX];
  uint32_t last; /* number in the last control message or write */
  bool disorder; /* a number out of sequence */
  void (*on_control)(gfc_operations *, uint16_t rank, const void *body, size_t bytes);
  void (*on_write)(gfc_operations *, uint16_t rank, uint32_t data);
  void *context; /* of on_write */
};

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                      \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

/* Waits until the condition holds for a node's record, under its mutex. */
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

/* Returns the time limit of UNTIL: much longer than needed, but short for mutants
 * (HARNESS_SECONDS). */
int harness_seconds(void);
/* Returns options of a node with the tests' key. */
gfsmith_node_options harness_options(uint16_t rank);
gfsmith_node *harness_node(uint16_t rank);
gfsmith_node *harness_open(const gfsmith_node_options *options);
gfc_operations *harness_record(gfsmith_node *node);
/* Gives `high`, the node with the higher rank, the address of `low`; both links are up at return.
 */
void harness_link(gfsmith_node *high, gfsmith_node *low);
/* Runs `work` in the engine's thread, and waits for its end. */
void harness_run(gfsmith_node *node, void (*work)(gfsmith_node *, void *), void *context);
/* Lets a stopped clock go on (clock.h); at return this node has acted on its timers. */
void harness_pass(gfsmith_node *node, unsigned ms);

#endif
