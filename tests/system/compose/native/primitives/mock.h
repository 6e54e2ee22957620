/* A network without time or threads that implements link.h: the next event is drawn at random, and
 * the test plans the fault. */
#ifndef MOCK_H
#define MOCK_H

#include "node.h"
#include "operations.h"
#include "scenario.h"

typedef enum mock_fault {
  FAULT_NONE,
  FAULT_KILL,    /* a node ends */
  FAULT_LINK,    /* a link goes down and comes up again */
  FAULT_SILENT,  /* a node stops working, but its links stay up */
  FAULT_PAYLOAD, /* a byte of a write's payload is wrong */
  FAULT_TRAILER, /* a byte of a write's trailer is wrong */
  FAULT_SHORT,   /* a write's last payload bytes and its trailer do not arrive */
  FAULT_SKIP,    /* a write is omitted */
  FAULT_PLACE,   /* two slices of a transfer arrive in each other's place */
  FAULT_TURN,    /* the same, and each is reported as the slice that belongs to that place */
  FAULT_ORDER,   /* two slices arrive in the wrong order */
  FAULT_CANCEL,  /* an operation is canceled */
  FAULT_BABBLE,  /* a control message's bytes are random */
  FAULT_MEMORY,  /* links have no memory for a message or write */
  FAULTS
} mock_fault;

typedef struct mock mock;

enum { MOCK_START = 1000 }; /* initial time in milliseconds */

mock *mock_create(random_source *random, unsigned nodes, size_t memory);
gfsmith_node *mock_node(mock *world, unsigned rank);
/* Returns true if the node is alive and takes part. */
bool mock_alive(const mock *world, unsigned rank);
/* Plans a fault after `step` more steps, at or towards this node. */
void mock_plan(mock *world, mock_fault fault, unsigned step, unsigned victim);
/* Returns true if the planned fault has occurred. */
bool mock_met(const mock *world);
/* Executes one event; without other events, time passes if `time` allows it. @return false: no
 * event is possible any more */
bool mock_step(mock *world, bool time);
uint64_t mock_time(const mock *world);
/* Exits with a message unless all registrations at a node are released. */
void mock_clean(mock *world, unsigned rank);
void mock_destroy(mock *world);

#endif
