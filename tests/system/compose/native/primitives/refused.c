/* Refused, limited, canceled and late operations. */
#include "../clock.h"
#include "cases.h"
#include "transfer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 1000 };

/* Rank 0 sends, rank 1 forwards to rank 2, with different parameters at rank 0. */
static void mismatch(network *net, uint64_t job, uint64_t hash, size_t length, size_t slice) {
  transfer first = transfer_make(job, length, slice), last = transfer_make(job, SMALL, 100);
  gfsmith_calc calc = {.calculator = GFSMITH_XOR, .outputs = 1};
  gfsmith_source source = {0, 3};
  gfsmith_target target = {2, 4, 0};
  gfsmith_memory memory = {.length = SMALL, .slice = 100};
  gfsmith_operation *middle;
  gfsmith_notice notice = {NULL, NULL, &middle};
  gfsmith_outcome outcome;
  first.job.hash = hash;
  REQUIRE(transfer_send(&first, net->node[0], 1, 3) == GFSMITH_OK, "send");
  REQUIRE(transfer_receive(&last, net->node[2], 1, 4) == GFSMITH_OK, "receive");
  REQUIRE(gfsmith_recv_ec_send(net->node[1], &last.job, &(gfsmith_wait){1, &source}, &calc, &memory,
                               &(gfsmith_stripe){1, &target}, &notice) == GFSMITH_OK,
          "middle");
  transfer_end(&first, GFSMITH_EMISMATCH, 1);
  transfer_end(&last, GFSMITH_EMISMATCH, ANY);
  REQUIRE(gfsmith_operation_wait(middle, 60000, &outcome), "it does not end");
  REQUIRE(outcome.status == GFSMITH_EMISMATCH && outcome.rank == 0, "%d", outcome.status);
  gfsmith_operation_release(middle);
  transfer_free(&first);
  transfer_free(&last);
}

void mismatches(const char *provider) {
  network net;
  network_create(&net, provider, 3, 0);
  clock_stop();                         /* as in `canceled` */
  mismatch(&net, 1, 8, SMALL, 100);     /* another hash */
  mismatch(&net, 2, 7, SMALL - 1, 100); /* length */
  mismatch(&net, 3, 7, SMALL, 101);     /* slice */
  mismatch(&net, 4, 7, SMALL, 0);
  network_destroy(&net);
}

void posted_twice(const char *provider) {
  network net;
  network_create(&net, provider, 2, 0);
  transfer one = transfer_make(1, SMALL, 0), two = transfer_make(1, SMALL, 0);
  transfer peer = transfer_make(1, SMALL, 0);
  transfer_receive(&one, net.node[0], 1, 5);
  transfer_receive(&two, net.node[0], 1, 5);
  transfer_end(&two, GFSMITH_EINVAL, -1);
  transfer_send(&peer, net.node[1], 0, 5);
  transfer_end(&peer, GFSMITH_OK, -1);
  transfer_end(&one, GFSMITH_OK, -1);
  transfer_free(&one);
  transfer_free(&two);
  transfer_free(&peer);
  network_destroy(&net);
}

void memory_limit(const char *provider) {
  enum { MEMORY = 1 << 20 };
  network net;
  network_create(&net, provider, 2, MEMORY);
  gfsmith_calc calc = {.calculator = GFSMITH_XOR, .outputs = 1};
  gfsmith_source source[2] = {{1, 0}, {1, 1}};
  gfsmith_target target = {1, 2, 0};
  gfsmith_job job = {1, 7, 0};
  gfsmith_memory memory = {.length = MEMORY / 2};
  gfsmith_operation *operation = NULL;
  gfsmith_notice notice = {NULL, NULL, &operation};
  gfsmith_wait wait = {2, source};
  gfsmith_stripe stripe = {1, &target};
  int status = gfsmith_recv_ec_send(net.node[0], &job, &wait, &calc, &memory, &stripe, &notice);
  REQUIRE(status == GFSMITH_ELIMIT && operation == NULL, "limit: %d", status);
  memory.length = MEMORY / 6;
  /* Five sixths of the limit are used and released, repeatedly: each received shard lands in one
   * place and is copied to another; half of it, where slices are not sealed. */
  for (unsigned n = 0; n < 4; n++) {
    job.id = 2 + n;
    status = gfsmith_recv_ec_send(net.node[0], &job, &wait, &calc, &memory, &stripe, &notice);
    REQUIRE(status == GFSMITH_OK, "within the limit: %d", status);
    job.id = 100 + n;
    status = gfsmith_recv_ec_send(net.node[0], &job, &wait, &calc, &memory, &stripe, NULL);
    REQUIRE(status == GFSMITH_ELIMIT, "limit, in use: %d", status);
    gfsmith_operation_cancel(operation);
    REQUIRE(gfsmith_operation_wait(operation, 60000, NULL), "it does not end");
    gfsmith_operation_release(operation);
  }
  network_destroy(&net);
}

static atomic_bool waiting;

static void *wait_long(void *operation) {
  atomic_store(&waiting, true);
  gfsmith_operation_wait(operation, 60000, NULL);
  return NULL;
}

/* A thread is cancelled while it waits for an operation; the operation ends as any other. */
void waiter_canceled(const char *provider) {
  network net;
  network_create(&net, provider, 2, 0);
  for (uint64_t n = 0; n < 20; n++) {
    transfer from = transfer_make(n, SMALL, 10), to = transfer_make(n, SMALL, 10);
    pthread_t waiter;
    atomic_store(&waiting, false);
    REQUIRE(transfer_receive(&to, net.node[1], 0, 0) == GFSMITH_OK, "receive");
    REQUIRE(pthread_create(&waiter, NULL, wait_long, to.operation) == 0, "thread");
    while (!atomic_load(&waiting))
      network_nap();
    REQUIRE(pthread_cancel(waiter) == 0, "cancel");
    REQUIRE(pthread_join(waiter, NULL) == 0, "join");
    REQUIRE(transfer_send(&from, net.node[0], 1, 0) == GFSMITH_OK, "send");
    transfer_end(&to, GFSMITH_OK, -1);
    transfer_end(&from, GFSMITH_OK, -1);
    transfer_free(&from);
    transfer_free(&to);
  }
  network_destroy(&net);
}

void canceled(const char *provider) {
  network net;
  network_create(&net, provider, 2, 0);
  clock_stop(); /* a node that stands still for the grace period would lose its link */
  for (uint64_t n = 0; n < 20; n++) {
    transfer from = transfer_make(n, SMALL, 10), to = transfer_make(n, SMALL, 10);
    bool both = n % 2 == 1;
    transfer_receive(&to, net.node[1], 0, 0);
    if (both)
      transfer_send(&from, net.node[0], 1, 0);
    gfsmith_operation_cancel(to.operation);
    gfsmith_operation_cancel(to.operation);
    if (!both) {
      transfer_end(&to, GFSMITH_ECANCELED, -1);
      transfer_send(&from, net.node[0], 1, 0); /* rank 0 gets the report although it posts late */
      transfer_end(&from, GFSMITH_ECANCELED, 1);
    } else if (transfer_end_either(&to, GFSMITH_ECANCELED, GFSMITH_OK) == GFSMITH_OK) {
      transfer_end(&from, GFSMITH_OK, -1);
    } else {
      transfer_end(&from, GFSMITH_ECANCELED, 1);
    }
    transfer_free(&from);
    transfer_free(&to);
  }
  network_destroy(&net);
}

void deadlines(const char *provider) {
  network net;
  network_create(&net, provider, 2, 0);
  transfer from = transfer_make(1, SMALL, 0), to = transfer_make(2, SMALL, 0);
  transfer nobody = transfer_make(3, SMALL, 0), told = transfer_make(2, SMALL, 0);
  from.job.deadline_ms = to.job.deadline_ms = nobody.job.deadline_ms = 100;
  transfer_send(&from, net.node[0], 1, 0);
  transfer_receive(&to, net.node[0], 1, 0);
  transfer_receive(&nobody, net.node[0], 9, 0); /* no such peer */
  transfer_end(&from, GFSMITH_ETIMEDOUT, 1);
  transfer_end(&to, GFSMITH_ETIMEDOUT, 1);
  transfer_end(&nobody, GFSMITH_EPEER, 9);
  transfer_send(&told, net.node[1], 0, 0);
  transfer_end(&told, GFSMITH_ETIMEDOUT, 0);
  transfer_free(&from);
  transfer_free(&to);
  transfer_free(&nobody);
  transfer_free(&told);
  network_destroy(&net);
}

/* Posting, waiting and canceling from callbacks: each transfer posts the next. */
enum { CHAIN = 50 };
typedef struct chain {
  network *net;
  transfer send[CHAIN], receive[CHAIN];
  atomic_uint sent, received;
} chain;

static void next_send(void *context, const gfsmith_outcome *outcome) {
  chain *all = context;
  unsigned n = atomic_load(&all->sent) + 1;
  REQUIRE(outcome->status == GFSMITH_OK, "%s", outcome->reason);
  REQUIRE(!gfsmith_operation_wait(all->send[n - 1].operation, 60000, NULL), "over in its callback");
  if (n < CHAIN) {
    REQUIRE(transfer_send(&all->send[n], all->net->node[0], 1, 0) == GFSMITH_OK, "send");
    gfsmith_outcome unused;
    gfsmith_job job = {1, 1, 0};
    gfsmith_calc calc = {.calculator = GFSMITH_XOR, .outputs = 1};
    gfsmith_memory memory = {.locals = 1};
    REQUIRE(gfsmith_incoherent(all->net->node[0], &job, NULL, &calc, &memory, NULL, &unused) ==
                GFSMITH_EINVAL,
            "incoherent in a callback");
  }
  atomic_store(&all->sent, n);
}

static void next_receive(void *context, const gfsmith_outcome *outcome) {
  chain *all = context;
  unsigned n = atomic_load(&all->received) + 1;
  REQUIRE(outcome->status == GFSMITH_OK, "%s", outcome->reason);
  if (n < CHAIN)
    REQUIRE(transfer_receive(&all->receive[n], all->net->node[1], 0, 0) == GFSMITH_OK, "receive");
  atomic_store(&all->received, n);
}

void from_callbacks(const char *provider) {
  network net;
  static chain all;
  network_create(&net, provider, 2, 0);
  all.net = &net;
  for (unsigned n = 0; n < CHAIN; n++) {
    all.send[n] = transfer_make(n, SMALL, 99);
    all.receive[n] = transfer_make(n, SMALL, 99);
    all.send[n].done = next_send;
    all.receive[n].done = next_receive;
    all.send[n].context = all.receive[n].context = &all;
  }
  transfer_receive(&all.receive[0], net.node[1], 0, 0);
  transfer_send(&all.send[0], net.node[0], 1, 0);
  while (atomic_load(&all.sent) < CHAIN || atomic_load(&all.received) < CHAIN)
    network_nap();
  for (unsigned n = 0; n < CHAIN; n++) {
    transfer_end(&all.send[n], GFSMITH_OK, -1);
    transfer_end(&all.receive[n], GFSMITH_OK, -1);
    transfer_free(&all.send[n]);
    transfer_free(&all.receive[n]);
  }
  network_destroy(&net);
}

/* Nodes destroyed with operations under way; handles stay valid until they are released. */
void destroyed(const char *provider) {
  network net;
  network_create(&net, provider, 3, 0);
  transfer own = transfer_make(1, SMALL, 0), peer = transfer_make(1, SMALL, 0);
  transfer other = transfer_make(2, SMALL, 0);
  transfer_receive(&own, net.node[0], 1, 0);
  transfer_receive(&peer, net.node[1], 0, 1);
  transfer_receive(&other, net.node[2], 1, 1);
  gfsmith_node_destroy(net.node[0]);
  transfer_end(&own, GFSMITH_ECANCELED, -1);
  transfer_end(&peer, GFSMITH_EPEER, 0);
  gfsmith_node_destroy(net.node[1]);
  transfer_end(&other, GFSMITH_EPEER, 1);
  gfsmith_node_destroy(net.node[2]);
  transfer_free(&own);
  transfer_free(&peer);
  transfer_free(&other);
}
