/* Links between nodes, in place of libfabric: frames of a link arrive once and in order, or the
 * link goes down, for each end at its own time. */
#ifndef SIMULATION_NETWORK_H
#define SIMULATION_NETWORK_H

#include "gfsmith_compose.h"
#include "process.h"

enum { MACHINES = 16 };

typedef enum frame_kind {
  FRAME_UP,
  FRAME_DOWN,
  FRAME_MESSAGE,
  FRAME_GRANT,
  FRAME_DATA,
  FRAME_LANDED,
  FRAME_REFUSE
} frame_kind;

/* The fields after the kind are for the kinds from FRAME_GRANT on, which operations.c handles; the
 * last two also for messages. */
typedef struct frame {
  struct frame *next;
  uint64_t due;
  frame_kind kind;
  uint64_t job, hash, length, slice;
  uint16_t edge;
  bool by_receiver; /* of FRAME_REFUSE */
  int status, culprit;
  size_t bytes;
  uint8_t *data;
} frame;

struct link;
struct gfsmith_operation;

typedef struct address_of {
  uint16_t port;  /* 0: unknown */
  uint64_t delay; /* before the next attempt to connect */
  bool tries;     /* an attempt is planned, or its link comes up */
} address_of;

struct gfsmith_node {
  process *process;
  gfsmith_node_options options;
  uint16_t port;
  struct link *links[MACHINES]; /* by rank */
  address_of peers[MACHINES];
  struct gfsmith_operation *operations;
  struct grant *grants; /* those that arrived before the operation */
  struct gfsmith_node *next;
};

/* The module that uses the links: a link is up or down, or a frame of a transfer has arrived. */
typedef struct network_events {
  void (*up)(gfsmith_node *node, uint16_t rank);
  void (*down)(gfsmith_node *node, uint16_t rank);
  void (*arrived)(gfsmith_node *node, uint16_t rank, const frame *f);
} network_events;

/* Choose the speed of all links. */
void network_begin(const network_events *events);
/* False: there is no link. Takes over the frame. */
bool network_send(gfsmith_node *node, uint16_t rank, frame *f);
/* All links of a dead process go down; its peers learn that within `most`. */
void network_forget(process *p, uint64_t most);
/* Break the link between two ranks, if there is one. */
void network_break(uint16_t a, uint16_t b, uint64_t most);
/* Block or unblock the way between two ranks: links stay, but nothing arrives. */
void network_block(uint16_t a, uint16_t b, bool blocked);
void network_unblock_all(void);

#endif
