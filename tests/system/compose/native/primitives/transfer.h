/* One shard from one node to another, for the tests of errors. */
#ifndef TRANSFER_H
#define TRANSFER_H

#include "network.h"

typedef struct transfer {
  gfsmith_job job;
  size_t length, slice;
  uint8_t *memory;
  const uint8_t *local[1];
  uint8_t *output[1];
  gfsmith_operation *operation;
  gfsmith_done *done; /* NULL: none */
  void *context;
} transfer;

/* Returns a job with the hash 7 and the deadline of the node. */
transfer transfer_make(uint64_t job, size_t length, size_t slice);
/* Posts the transfer: sends from a node to a rank, or receives. */
int transfer_send(transfer *transfer, gfsmith_node *node, uint16_t to, uint16_t edge);
int transfer_receive(transfer *transfer, gfsmith_node *node, uint16_t from, uint16_t edge);
/* Waits for the end and requires this status, and this rank as the one to blame unless it is ANY.
 */
enum { ANY = -2 };
void transfer_end(transfer *transfer, int status, int rank);
/* The same for two allowed outcomes. @return the status */
int transfer_end_either(transfer *transfer, int status, int other);
void transfer_free(transfer *transfer);

#endif
