/* A network without time or threads that implements link.h: the next event is drawn at random, and
 * the test plans the fault. */
#ifndef MOCK_H
#define MOCK_H

#include "mock_fault.h"
#include "node.h"
#include "operations.h"
#include "scenario.h"

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
