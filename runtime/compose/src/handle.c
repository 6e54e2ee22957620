/* What callers have of an operation. */
#include "operations.h"

#include <errno.h>
#include <time.h>

int gfc_handle_init(gfsmith_operation *operation) {
  pthread_condattr_t clock;
  if (pthread_mutex_init(&operation->lock, NULL) != 0)
    return GFSMITH_ENOMEM;
  if (pthread_condattr_init(&clock) != 0)
    goto no_attributes;
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  int failed = pthread_cond_init(&operation->changed, &clock);
  pthread_condattr_destroy(&clock);
  if (failed == 0)
    return GFSMITH_OK;
no_attributes:
  pthread_mutex_destroy(&operation->lock);
  return GFSMITH_ENOMEM;
}

void gfc_handle_end(gfsmith_operation *operation) {
  pthread_cond_destroy(&operation->changed);
  pthread_mutex_destroy(&operation->lock);
}

void gfc_operation_hold(gfsmith_operation *operation) {
  atomic_fetch_add_explicit(&operation->references, 1, memory_order_relaxed);
}

void gfc_operation_drop(gfsmith_operation *operation) {
  if (atomic_fetch_sub_explicit(&operation->references, 1, memory_order_acq_rel) == 1)
    gfc_operation_free(operation);
}

void gfc_handle_over(gfsmith_operation *operation) {
  if (operation->done != NULL)
    operation->done(operation->context, &operation->outcome);
  pthread_mutex_lock(&operation->lock);
  operation->over = true;
  pthread_cond_broadcast(&operation->changed);
  pthread_mutex_unlock(&operation->lock);
}

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

bool gfsmith_operation_wait(gfsmith_operation *operation, unsigned ms, gfsmith_outcome *outcome) {
  struct timespec until = after(ms);
  bool patient = ms > 0;
  pthread_mutex_lock(&operation->lock);
  /* The engine cannot wait for itself. */
  if (!operation->over && gfc_in_engine(operation->all->node->engine))
    patient = false;
  while (!operation->over && patient)
    patient = pthread_cond_timedwait(&operation->changed, &operation->lock, &until) != ETIMEDOUT;
  bool over = operation->over;
  pthread_mutex_unlock(&operation->lock);
  if (over && outcome != NULL)
    *outcome = operation->outcome;
  return over;
}

void gfsmith_operation_cancel(gfsmith_operation *operation) {
  gfc_operation_hold(operation);
  /* Without memory for this it ends by its deadline. */
  if (gfc_run(operation->all->node->engine, gfc_operation_cancel, operation) != GFSMITH_OK)
    gfc_operation_drop(operation);
}

void gfsmith_operation_release(gfsmith_operation *operation) {
  if (operation != NULL)
    gfc_operation_drop(operation);
}
