/* The public calls: primitives that are posted, their handles, the incoherent baseline, regions. */
#include <errno.h>
#include <time.h>

#include "completion.h"
#include "compute.h"
#include "node.h"
#include "operation.h"
#include "progress.h"
#include "transfer.h"

static const gfsmith_wait no_wait = {0, NULL};
static const gfsmith_stripe no_stripe = {0, NULL};

/* Are all parts of the request given (not NULL)? */
static bool is_complete(const gfsmith_node *node, const gfc_request *request) {
  return node != NULL && request->job != NULL && request->wait != NULL && request->calc != NULL &&
         request->memory != NULL && request->stripe != NULL;
}

/* ---- primitives ---- */

static int post(gfsmith_node *node, const gfc_request *request, const gfsmith_notice *notice) {
  gfsmith_operation *operation;
  int status = gfc_operation_create(&operation, node->operations, request);
  if (status != GFSMITH_OK)
    return status;
  if (notice != NULL) {
    operation->done = notice->done;
    operation->context = notice->context;
  }
  bool handle = notice != NULL && notice->operation != NULL;
  if (handle) {
    gfc_operation_hold(operation);
    *notice->operation = operation;
  }
  status = gfc_run(node->engine, gfc_operation_start, operation);
  if (status != GFSMITH_OK) {
    if (handle)
      *notice->operation = NULL;
    gfc_operation_free(operation);
  }
  return status;
}

int gfsmith_ec_send(gfsmith_node *node, const gfsmith_job *job, const gfsmith_calc *calc,
                    const gfsmith_memory *memory, const gfsmith_stripe *stripe,
                    const gfsmith_notice *notice) {
  gfc_request request = {job, &no_wait, calc, memory, stripe};
  if (!is_complete(node, &request) || stripe->count == 0)
    return GFSMITH_EINVAL;
  return post(node, &request, notice);
}

int gfsmith_recv_ec_send(gfsmith_node *node, const gfsmith_job *job, const gfsmith_wait *wait,
                         const gfsmith_calc *calc, const gfsmith_memory *memory,
                         const gfsmith_stripe *stripe, const gfsmith_notice *notice) {
  gfc_request request = {job, wait, calc, memory, stripe};
  if (!is_complete(node, &request) || wait->count == 0 || stripe->count == 0)
    return GFSMITH_EINVAL;
  return post(node, &request, notice);
}

int gfsmith_recv_ec(gfsmith_node *node, const gfsmith_job *job, const gfsmith_wait *wait,
                    const gfsmith_calc *calc, const gfsmith_memory *memory,
                    const gfsmith_notice *notice) {
  gfc_request request = {job, wait != NULL ? wait : &no_wait, calc, memory, &no_stripe};
  if (!is_complete(node, &request))
    return GFSMITH_EINVAL;
  return post(node, &request, notice);
}

/* ---- handles ---- */

static struct timespec after(unsigned ms) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  at.tv_sec += (time_t)(ms / 1000);
  at.tv_nsec += (long)(ms % 1000) * 1000000;
  if (at.tv_nsec >= 1000000000) {
    at.tv_sec++;
    at.tv_nsec -= 1000000000;
  }
  return at;
}

static void release_lock(void *operation) {
  pthread_mutex_unlock(&((gfsmith_operation *)operation)->lock);
}

bool gfsmith_operation_wait(gfsmith_operation *operation, unsigned ms, gfsmith_outcome *outcome) {
  struct timespec until = after(ms);
  bool patient = ms > 0, over;
  pthread_mutex_lock(&operation->lock);
  /* A thread that is cancelled while it waits holds the lock, which the engine needs. */
  pthread_cleanup_push(release_lock, operation);
  /* The engine's thread cannot wait for itself. */
  if (!operation->over && gfc_in_engine(operation->all->engine))
    patient = false;
  while (!operation->over && patient)
    patient = pthread_cond_timedwait(&operation->changed, &operation->lock, &until) != ETIMEDOUT;
  over = operation->over;
  pthread_cleanup_pop(true);
  if (over && outcome != NULL)
    *outcome = operation->outcome;
  return over;
}

void gfsmith_operation_cancel(gfsmith_operation *operation) {
  gfc_operation_hold(operation);
  /* If there is no memory for this, the operation ends by its deadline. */
  if (gfc_run(operation->all->engine, gfc_operation_cancel, operation) != GFSMITH_OK)
    gfc_operation_drop(operation);
}

void gfsmith_operation_release(gfsmith_operation *operation) {
  if (operation != NULL)
    gfc_operation_drop(operation);
}

/* ---- the incoherent baseline: the operation is the same, but the caller's thread requests each
 * receive, computes, and triggers each send; in between it waits until the engine has completed the
 * previous step ---- */

static void ask(void *observer, void *context) {
  gfc_end *end = context;
  gfsmith_operation *operation = end->operation;
  (void)observer;
  gfc_receive_ask(end);
  gfc_settle(operation);
  gfc_operation_drop(operation);
}

static void send_slices(void *observer, void *context) {
  gfsmith_operation *operation = context;
  (void)observer;
  gfc_advance(operation);
  gfc_operation_drop(operation);
}

static void fail(void *observer, void *context) {
  gfsmith_operation *operation = context;
  (void)observer;
  gfc_fail(operation, NULL, operation->step, -1, "the kernel: %s",
           gfsmith_compose_strerror(operation->step));
  gfc_settle(operation);
  gfc_operation_drop(operation);
}

/* Let the engine execute a step of this operation. If there is no memory for it, the deadline ends
 * the operation. */
static void hand_over(gfsmith_operation *operation, void (*work)(void *, void *), void *context) {
  gfc_operation_hold(operation);
  operation->trace.involvements++;
  if (gfc_run(operation->all->engine, work, context) != GFSMITH_OK)
    gfc_operation_drop(operation);
}

/* Wait until *slices, the number of slices received or sent, reaches `count`. @return false: the
 * operation is over */
static bool wait_for(gfsmith_operation *operation, const size_t *slices, size_t count) {
  operation->trace.involvements++;
  pthread_mutex_lock(&operation->lock);
  while (!operation->over && *slices < count)
    pthread_cond_wait(&operation->changed, &operation->lock);
  bool over = operation->over;
  pthread_mutex_unlock(&operation->lock);
  return !over;
}

static void hand_slice(gfsmith_operation *operation, size_t s) {
  pthread_mutex_lock(&operation->lock);
  operation->handed = s + 1;
  pthread_mutex_unlock(&operation->lock);
  hand_over(operation, send_slices, operation);
}

static void run(gfsmith_operation *operation) {
  bool goes_on = true;
  for (unsigned j = 0; j < operation->receives; j++)
    hand_over(operation, ask, &operation->end[j]);
  for (size_t s = 0; s < operation->slices && goes_on; s++) {
    if (!wait_for(operation, &operation->here, s + 1))
      return;
    size_t room = SIZE_MAX;
    bool whole;
    operation->step = gfc_compute(operation, s, &room, &whole);
    if (operation->step != GFSMITH_OK) {
      hand_over(operation, fail, operation);
      return;
    }
    hand_slice(operation, s);
    goes_on = wait_for(operation, &operation->gone, s + 1);
  }
}

int gfsmith_incoherent(gfsmith_node *node, const gfsmith_job *job, const gfsmith_wait *wait,
                       const gfsmith_calc *calc, const gfsmith_memory *memory,
                       const gfsmith_stripe *stripe, gfsmith_outcome *outcome) {
  gfsmith_operation *operation;
  gfc_request request = {job, wait != NULL ? wait : &no_wait, calc, memory,
                         stripe != NULL ? stripe : &no_stripe};
  if (!is_complete(node, &request) || gfc_in_engine(node->engine))
    return GFSMITH_EINVAL;
  int status = gfc_operation_create(&operation, node->operations, &request);
  if (status != GFSMITH_OK)
    return status;
  operation->by_hand = operation->trace.incoherent = true;
  gfc_operation_hold(operation);
  status = gfc_run(node->engine, gfc_operation_start, operation);
  if (status != GFSMITH_OK) {
    gfc_operation_free(operation);
    return status;
  }
  int cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* the operation is this call's */
  run(operation);
  operation->trace.involvements++;
  pthread_mutex_lock(&operation->lock);
  while (!operation->over)
    pthread_cond_wait(&operation->changed, &operation->lock);
  pthread_mutex_unlock(&operation->lock);
  gfc_trace(operation);
  if (outcome != NULL)
    *outcome = operation->outcome;
  gfc_operation_drop(operation);
  pthread_setcancelstate(cancel, NULL);
  return GFSMITH_OK;
}

/* ---- regions ---- */

int gfsmith_region_create(gfsmith_region **out, gfsmith_node *node, void *memory, size_t bytes) {
  if (out == NULL)
    return GFSMITH_EINVAL;
  *out = NULL;
  if (node == NULL || memory == NULL || bytes == 0)
    return GFSMITH_EINVAL;
  return gfc_region_add(node->operations->memory, memory, bytes, out);
}

void gfsmith_region_destroy(gfsmith_region *region) {
  if (region != NULL)
    gfc_region_remove(region);
}
