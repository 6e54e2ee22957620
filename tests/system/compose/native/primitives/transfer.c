#include "transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

transfer transfer_make(uint64_t job, size_t length, size_t slice) {
  transfer made = {.job = {job, 7, 0}, .length = length, .slice = slice};
  made.memory = malloc(length + 1);
  REQUIRE(made.memory != NULL, "no memory");
  for (size_t n = 0; n < length; n++)
    made.memory[n] = (uint8_t)(n * 167 + job);
  return made;
}

int transfer_send(transfer *transfer, gfsmith_node *node, uint16_t to, uint16_t edge) {
  gfsmith_calc calc = {.calculator = GFSMITH_FORWARD, .outputs = 1};
  gfsmith_target target = {to, edge, 0};
  gfsmith_stripe stripe = {1, &target};
  gfsmith_notice notice = {transfer->done, transfer->context, &transfer->operation};
  transfer->local[0] = transfer->memory;
  gfsmith_memory memory = {
      .length = transfer->length, .slice = transfer->slice, .locals = 1, .local = transfer->local};
  return gfsmith_ec_send(node, &transfer->job, &calc, &memory, &stripe, &notice);
}

int transfer_receive(transfer *transfer, gfsmith_node *node, uint16_t from, uint16_t edge) {
  gfsmith_calc calc = {.calculator = GFSMITH_FORWARD, .outputs = 1};
  gfsmith_source source = {from, edge};
  gfsmith_wait wait = {1, &source};
  gfsmith_notice notice = {transfer->done, transfer->context, &transfer->operation};
  transfer->output[0] = transfer->memory;
  gfsmith_memory memory = {
      .length = transfer->length, .slice = transfer->slice, .output = transfer->output};
  memset(transfer->memory, 0, transfer->length);
  return gfsmith_recv_ec(node, &transfer->job, &wait, &calc, &memory, &notice);
}

static gfsmith_outcome outcome_of(transfer *transfer) {
  gfsmith_outcome outcome;
  REQUIRE(gfsmith_operation_wait(transfer->operation, 60000, &outcome), "it does not end");
  gfsmith_operation_release(transfer->operation);
  transfer->operation = NULL;
  REQUIRE((outcome.status == GFSMITH_OK) == (outcome.reason[0] == 0), "reason: %s", outcome.reason);
  if (outcome.status != GFSMITH_OK)
    printf("%d %d %s\n", outcome.status, outcome.rank, outcome.reason);
  return outcome;
}

static void check_bytes(const transfer *transfer) {
  for (size_t n = 0; n < transfer->length; n++)
    REQUIRE(transfer->memory[n] == (uint8_t)(n * 167 + transfer->job.id), "byte %zu", n);
}

void transfer_end(transfer *transfer, int status, int rank) {
  gfsmith_outcome outcome = outcome_of(transfer);
  REQUIRE(outcome.status == status && (rank == ANY || outcome.rank == rank),
          "%d of rank %d, not %d of rank %d: %s", outcome.status, outcome.rank, status, rank,
          outcome.reason);
  if (status == GFSMITH_OK)
    check_bytes(transfer);
}

int transfer_end_either(transfer *transfer, int status, int other) {
  gfsmith_outcome outcome = outcome_of(transfer);
  REQUIRE(outcome.status == status || outcome.status == other, "%d: %s", outcome.status,
          outcome.reason);
  if (outcome.status == GFSMITH_OK)
    check_bytes(transfer);
  return outcome.status;
}

void transfer_free(transfer *transfer) { free(transfer->memory); }
