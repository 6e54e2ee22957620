/* A network without time or threads, behind link.h: what happens next is drawn, what goes wrong is
 * said. */
#ifndef MOCK_H
#define MOCK_H

#include "node.h"
#include "scenario.h"

typedef enum mock_fault {
  FAULT_NONE,
  FAULT_KILL,    /* a node is gone */
  FAULT_LINK,    /* a link goes down, and comes up again */
  FAULT_SILENT,  /* a node does nothing more, but its links stay */
  FAULT_PAYLOAD, /* a byte of a write's payload is wrong */
  FAULT_TRAILER, /* a byte of its trailer is */
  FAULT_SHORT,   /* a write's last payload bytes and its trailer do not arrive */
  FAULT_SKIP,    /* a write is left out */
  FAULT_PLACE,   /* two slices of a transfer go to each other's place */
  FAULT_TURN,    /* the same, and each is told as what belongs into the place that it takes */
  FAULT_ORDER,   /* they come in the wrong order */
  FAULT_CANCEL,  /* an operation is canceled */
  FAULT_BABBLE,  /* a control message's bytes are random */
  FAULT_MEMORY,  /* links have no memory for a message or write */
  FAULTS
} mock_fault;

typedef struct mock mock;

enum { MOCK_START = 1000 }; /* when it begins, in milliseconds */

mock *mock_create(random_source *random, unsigned nodes, size_t memory);
gfsmith_node *mock_node(mock *world, unsigned rank);
/* Does it live, and take part? */
bool mock_alive(const mock *world, unsigned rank);
/* After so many steps more let this happen, at or to this node. */
void mock_plan(mock *world, mock_fault fault, unsigned step, unsigned victim);
/* Has the planned fault been met? */
bool mock_met(const mock *world);
/* Something happens; with nothing else to do, time passes, if it may. @return false: nothing can
 * happen any more */
bool mock_step(mock *world, bool time);
uint64_t mock_time(const mock *world);
/* Exit with a message unless nothing is registered at a node. */
void mock_clean(mock *world, unsigned rank);
void mock_destroy(mock *world);

#endif
