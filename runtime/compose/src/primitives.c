#include "operations.h"

#include <stdlib.h>

const gfsmith_wait gfc_no_wait = {0, NULL};
const gfsmith_stripe gfc_no_stripe = {0, NULL};

static int post(gfsmith_node *node, const gfc_request *request, const gfsmith_notice *notice) {
  gfsmith_operation *operation;
  int status = gfc_operation_create(&operation, node, request);
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

bool gfc_request_complete(const gfsmith_node *node, const gfc_request *request) {
  return node != NULL && request->job != NULL && request->wait != NULL && request->calc != NULL &&
         request->memory != NULL && request->stripe != NULL;
}

int gfsmith_ec_send(gfsmith_node *node, const gfsmith_job *job, const gfsmith_calc *calc,
                    const gfsmith_memory *memory, const gfsmith_stripe *stripe,
                    const gfsmith_notice *notice) {
  gfc_request request = {job, &gfc_no_wait, calc, memory, stripe};
  if (!gfc_request_complete(node, &request) || stripe->count == 0)
    return GFSMITH_EINVAL;
  return post(node, &request, notice);
}

int gfsmith_recv_ec_send(gfsmith_node *node, const gfsmith_job *job, const gfsmith_wait *wait,
                         const gfsmith_calc *calc, const gfsmith_memory *memory,
                         const gfsmith_stripe *stripe, const gfsmith_notice *notice) {
  gfc_request request = {job, wait, calc, memory, stripe};
  if (!gfc_request_complete(node, &request) || wait->count == 0 || stripe->count == 0)
    return GFSMITH_EINVAL;
  return post(node, &request, notice);
}

int gfsmith_recv_ec(gfsmith_node *node, const gfsmith_job *job, const gfsmith_wait *wait,
                    const gfsmith_calc *calc, const gfsmith_memory *memory,
                    const gfsmith_notice *notice) {
  gfc_request request = {job, wait != NULL ? wait : &gfc_no_wait, calc, memory, &gfc_no_stripe};
  if (!gfc_request_complete(node, &request))
    return GFSMITH_EINVAL;
  return post(node, &request, notice);
}

int gfsmith_region_create(gfsmith_region **out, gfsmith_node *node, void *memory, size_t bytes) {
  if (out == NULL)
    return GFSMITH_EINVAL;
  *out = NULL;
  if (node == NULL || memory == NULL || bytes == 0)
    return GFSMITH_EINVAL;
  gfsmith_region *region = calloc(1, sizeof *region);
  if (region == NULL)
    return GFSMITH_ENOMEM;
  region->node = node;
  region->memory = memory;
  region->bytes = bytes;
  int status = gfc_register(node->engine, memory, bytes, GFC_SOURCE, NULL, &region->registration);
  if (status != GFSMITH_OK) {
    free(region);
    return status;
  }
  pthread_mutex_lock(&node->operations->lock);
  DL_APPEND(node->operations->regions, region);
  pthread_mutex_unlock(&node->operations->lock);
  *out = region;
  return GFSMITH_OK;
}

void gfsmith_region_destroy(gfsmith_region *region) {
  if (region == NULL)
    return;
  gfc_operations *all = region->node->operations;
  pthread_mutex_lock(&all->lock);
  DL_DELETE(all->regions, region);
  pthread_mutex_unlock(&all->lock);
  gfc_unregister(&region->registration);
  free(region);
}
