/* Placeholder until PRIM's is here: a node without operations. */
#include "node.h"

static void up(void *upper, uint16_t rank) { (void)upper, (void)rank; }
static void down(void *upper, uint16_t rank, int status, const char *reason) {
  (void)upper, (void)rank, (void)status, (void)reason;
}
static void control(void *upper, uint16_t rank, uint8_t type, const void *body, size_t bytes) {
  (void)upper, (void)rank, (void)type, (void)body, (void)bytes;
}
static void written(void *upper, uint16_t rank, uint32_t data) {
  (void)upper, (void)rank, (void)data;
}
static void sent(void *upper, void *context, int status) {
  (void)upper, (void)context, (void)status;
}
static void stop(void *upper) { (void)upper; }

const gfc_upper gfc_operations_upper = {up, down, control, written, sent, stop};

int gfc_operations_create(gfc_operations **out, gfsmith_node *node,
                          const gfsmith_node_options *options) {
  (void)node, (void)options;
  *out = NULL;
  return GFSMITH_OK;
}

void gfc_operations_destroy(gfc_operations *operations) { (void)operations; }
