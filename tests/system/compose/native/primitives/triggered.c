/* Forwarding while the engine in the middle is busy: only the provider itself can do it. */
#include "../clock.h"
#include "cases.h"
#include "transfer.h"

#include <semaphore.h>
#include <stdio.h>

static void keep_busy(void *context, const gfsmith_outcome *outcome) {
  sem_t *turn = context;
  (void)outcome;
  sem_post(&turn[0]);
  sem_wait(&turn[1]);
}

/* Rank 1 forwards from rank 0 to rank 2, in slices. */
static gfsmith_operation *forward(gfsmith_node *node, uint64_t job, size_t length, size_t slice) {
  gfsmith_calc calc = {.calculator = GFSMITH_FORWARD, .outputs = 1};
  gfsmith_source source = {0, 0};
  gfsmith_target target = {2, 1, 0};
  gfsmith_memory memory = {.length = length, .slice = slice};
  gfsmith_job what = {job, 7, 60000};
  gfsmith_operation *operation;
  gfsmith_notice notice = {NULL, NULL, &operation};
  REQUIRE(gfsmith_recv_ec_send(node, &what, &(gfsmith_wait){1, &source}, &calc, &memory,
                               &(gfsmith_stripe){1, &target}, &notice) == GFSMITH_OK,
          "forward");
  return operation;
}

static void wait_forward(gfsmith_operation *operation, int status) {
  gfsmith_outcome outcome;
  REQUIRE(gfsmith_operation_wait(operation, 60000, &outcome), "it does not end");
  REQUIRE(outcome.status == status, "%d: %s", outcome.status, outcome.reason);
  gfsmith_operation_release(operation);
}

/* A transfer between 0 and 1 after all earlier messages: the grants of all earlier posts have
 * arrived. */
static void settle(const network *net, uint64_t job, uint16_t from, uint16_t to) {
  transfer one = transfer_make(job, 1, 0), two = transfer_make(job, 1, 0);
  transfer_receive(&two, net->node[to], from, 99);
  transfer_send(&one, net->node[from], to, 99);
  transfer_end(&two, GFSMITH_OK, -1);
  transfer_end(&one, GFSMITH_OK, -1);
  transfer_free(&one);
  transfer_free(&two);
}

void triggered(const char *provider) {
  enum { LENGTH = 8000, SLICE = 1000 };
  network net;
  sem_t turn[2];
  network_create(&net, provider, 3, 0);
  REQUIRE(gfsmith_node_triggers(net.node[1]), "%s does not trigger", provider);
  sem_init(&turn[0], 0, 0);
  sem_init(&turn[1], 0, 0);
  transfer from = transfer_make(1, LENGTH, SLICE), to = transfer_make(1, LENGTH, SLICE);
  transfer busy = transfer_make(2, 1, 0);
  gfsmith_operation *middle = forward(net.node[1], 1, LENGTH, SLICE);
  transfer_receive(&to, net.node[2], 1, 1);
  settle(&net, 3, 2, 1); /* rank 1 has rank 2's grant */
  settle(&net, 4, 1, 0); /* and rank 0 has rank 1's */
  busy.done = keep_busy;
  busy.context = turn;
  transfer_receive(&busy, net.node[1], 0, 9);
  gfsmith_operation_cancel(busy.operation);
  sem_wait(&turn[0]);
  transfer_send(&from, net.node[0], 1, 0);
  transfer_end(&to, GFSMITH_OK, -1); /* although rank 1's engine is blocked */
  sem_post(&turn[1]);
  transfer_end(&from, GFSMITH_OK, -1);
  transfer_end(&busy, GFSMITH_ECANCELED, -1);
  wait_forward(middle, GFSMITH_OK);
  transfer_free(&from);
  transfer_free(&to);
  transfer_free(&busy);
  network_destroy(&net);
}

/* Triggered writes that never start, because the operation ends before. */
void triggered_in_vain(const char *provider) {
  network net;
  network_create(&net, provider, 3, 0);
  clock_stop(); /* a node that stands still for the grace period would lose its link */
  for (uint64_t n = 0; n < 30; n++) {
    bool both = n % 2 == 0;
    transfer from = transfer_make(n, 30000, 1000), to = transfer_make(n, 30000, 1000);
    gfsmith_operation *middle = forward(net.node[1], n, 30000, 1000);
    transfer_receive(&to, net.node[2], 1, 1);
    settle(&net, 1000 + n, 2, 1);
    if (both)
      transfer_send(&from, net.node[0], 1, 0);
    gfsmith_operation_cancel(n % 3 == 0 ? to.operation : middle);
    int status = transfer_end_either(&to, GFSMITH_ECANCELED, both ? GFSMITH_OK : GFSMITH_ECANCELED);
    if (!both)
      transfer_send(&from, net.node[0], 1, 0);
    gfsmith_outcome outcome;
    REQUIRE(gfsmith_operation_wait(middle, 60000, &outcome), "it does not end");
    REQUIRE(status == GFSMITH_OK || outcome.status != GFSMITH_OK, "%s", outcome.reason);
    gfsmith_operation_release(middle);
    transfer_end_either(&from, GFSMITH_ECANCELED, both ? GFSMITH_OK : GFSMITH_ECANCELED);
    transfer_free(&from);
    transfer_free(&to);
  }
  settle(&net, 2000, 0, 1); /* links are unchanged */
  settle(&net, 2001, 1, 2);
  network_destroy(&net);
}
