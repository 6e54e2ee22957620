/* The baseline: the operation is the same, but this thread asks for each receive, computes, and
 * hands over each send; in between it waits until the engine says that the step before is done. */
#include "operations.h"

static void ask(void *operations, void *context) {
  gfc_end *end = context;
  gfsmith_operation *operation = end->operation;
  (void)operations;
  gfc_receive_ask(end);
  gfc_settle(operation);
  gfc_operation_drop(operation);
}

static void send(void *operations, void *context) {
  gfsmith_operation *operation = context;
  (void)operations;
  gfc_advance(operation);
  gfc_operation_drop(operation);
}

static void fail(void *operations, void *context) {
  gfsmith_operation *operation = context;
  (void)operations;
  gfc_fail(operation, NULL, operation->step, -1, "the kernel: %s",
           gfsmith_compose_strerror(operation->step));
  gfc_settle(operation);
  gfc_operation_drop(operation);
}

/* Have a step of this operation done by the engine. Without memory for it the deadline ends the
 * operation. */
static void hand_over(gfsmith_operation *operation, void (*work)(void *, void *), void *context) {
  gfc_operation_hold(operation);
  if (gfc_run(operation->all->node->engine, work, context) != GFSMITH_OK)
    gfc_operation_drop(operation);
}

/* Wait until so many slices are here, or gone. @return false: the operation is over */
static bool wait_for(gfsmith_operation *operation, const size_t *slices, size_t count) {
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
  hand_over(operation, send, operation);
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
  gfc_request request = {job, wait != NULL ? wait : &gfc_no_wait, calc, memory,
                         stripe != NULL ? stripe : &gfc_no_stripe};
  if (!gfc_request_complete(node, &request) || gfc_in_engine(node->engine))
    return GFSMITH_EINVAL;
  int status = gfc_operation_create(&operation, node, &request);
  if (status != GFSMITH_OK)
    return status;
  operation->by_hand = true;
  gfc_operation_hold(operation);
  status = gfc_run(node->engine, gfc_operation_start, operation);
  if (status != GFSMITH_OK) {
    gfc_operation_free(operation);
    return status;
  }
  run(operation);
  pthread_mutex_lock(&operation->lock);
  while (!operation->over)
    pthread_cond_wait(&operation->changed, &operation->lock);
  pthread_mutex_unlock(&operation->lock);
  if (outcome != NULL)
    *outcome = operation->outcome;
  gfc_operation_drop(operation);
  return GFSMITH_OK;
}
