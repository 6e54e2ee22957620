/* Declarations shared by the parts of the mock: mock.c, a world and its time; mock_links.c, the
 * functions of link.h; mock_events.c, the possible events at a node. */
#ifndef MOCK_WORLD_H
#define MOCK_WORLD_H

#include <sys/queue.h>

#include "mock_fault.h"
#include "node.h"
#include "operations.h"
#include "scenario.h"

typedef struct mock mock;

/* A control message or write under way. The bytes of a write are read only when it is transmitted,
 * and stored when it is delivered, so the test detects memory that is released too early. */
typedef struct packet {
  TAILQ_ENTRY(packet) entry;
  bool write, transmitted;
  uint8_t type;
  size_t bytes;
  uint8_t *body;
  gfc_piece piece[GFC_PIECES_MAX];
  unsigned pieces;
  uint32_t data;
  void *context;
  bool silent; /* delivered without a report: an omitted write */
} packet;

typedef struct sent {
  TAILQ_ENTRY(sent) entry;
  unsigned peer;
  void *context;
  int status;
} sent;

typedef struct work {
  TAILQ_ENTRY(work) entry;
  void (*run)(void *, void *);
  void *context;
} work;

typedef struct record {
  TAILQ_ENTRY(record) entry;
  struct gfc_engine *engine;
  uint8_t *memory;
  size_t bytes;
  unsigned purpose;
  uint64_t key, base;
} record;

typedef enum link_state { LINK_UP, LINK_FALLING, LINK_DOWN, LINK_RISING } link_state;

struct gfc_engine {
  mock *world;
  unsigned rank;
  gfsmith_node node;
  TAILQ_HEAD(, packet) out[RANKS];
  TAILQ_HEAD(, sent) sent;
  TAILQ_HEAD(, work) work;
  TAILQ_HEAD(, record) records;
  gfc_timers timers;
  link_state link[RANKS];
  int status[RANKS]; /* of a link that goes down */
  bool dead, silent, running;
};

struct mock {
  random_source *random;
  unsigned nodes, steps, fault_step, victim;
  uint64_t now, keys;
  mock_fault fault;
  bool met, offsets;
  struct gfc_engine engine[RANKS];
};

/* ---- mock_links.c ---- */

/* Returns true once, at the moment of the planned fault, if this node is the victim. */
bool mock_strikes(gfc_engine *engine, mock_fault fault);
/* A gfc_write to this peer has ended; a report is due. */
void mock_note_sent(gfc_engine *engine, unsigned peer, void *context, int status);
void mock_free_packet(packet *old);
void mock_link_down(mock *world, unsigned a, unsigned b, int status);

/* ---- mock_events.c ---- */

enum { MOCK_KINDS = 5 };

/* Executes one kind of event at this node, towards this peer, if it is possible. */
bool mock_happen(gfc_engine *engine, unsigned kind, unsigned peer);

#endif
