/* Operations: what was posted, and how far it is. An operation has an *end* for every transfer that
 * it receives or sends, and works slice by slice: when slice s of all inputs is here it is computed
 * and handed to the links.
 *
 *   receiving end   IDLE (no link) -> GRANTED (the peer may write) -> DONE (all slices here, LANDED
 * sent) GRANTED -> REVOKED (the operation failed; REFUSE sent) -> DONE (RELEASE came, or the link
 * is down) sending end     IDLE (no grant yet) -> GRANTED -> DONE (LANDED came)
 *
 * An operation that failed is over when no peer can write into its memory any more and no link
 * reads from it: at the latest GFC_GRACE_MS after its failure, for then the links that still do are
 * taken down. So nothing that arrives late can land in memory that is somebody else's, whatever a
 * provider does with keys that were closed.
 *
 * All in the engine's thread, unless said otherwise. */
#ifndef GFC_OPERATION_H
#define GFC_OPERATION_H

#include <pthread.h>
#include <stdatomic.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

#include "calc.h"
#include "link.h"
#include "node.h"
#include "pool.h"
#include "wire.h"

enum { GFC_GRACE_MS = 1000 };

/* No grant is asked to take more than so many writes at once of one end. */
enum { GFC_WINDOW = 64 };

/* Writes of one link that wait for a counter: they hold places that other messages need as well (a
 * link has 32), and what they wait for may come by such messages. */
enum { GFC_ARMED_MAX = 8 };

/* Which transfer, seen from one end. Compared as bytes. */
typedef struct gfc_key {
  uint64_t job;
  uint16_t rank; /* the peer */
  uint16_t edge;
  uint32_t role; /* gfc_role of this end */
} gfc_key;

typedef enum gfc_state { GFC_IDLE, GFC_GRANTED, GFC_REVOKED, GFC_DONE } gfc_state;

/* A counter of libfabric's, and the registration it is bound to. */
typedef struct gfc_counter {
  struct fid_cntr *fid;
  gfc_registration trailers;
  struct gfc_counter *next;
} gfc_counter;

typedef struct gfc_end {
  UT_hash_handle hh;
  gfc_key key;
  bool listed; /* found by its key */
  gfc_state state;
  gfsmith_operation *operation;
  unsigned index; /* the input that is received, or the output that is sent */

  /* Receiving: slices that are here, in order; where the peer writes. */
  size_t landed;
  bool asked; /* it may be granted */
  uint16_t slot;
  gfc_registration payload, trailers;
  gfc_counter *counter; /* of slices that have landed, as the provider counts; NULL: it does not */

  /* Sending: slices handed to the link, writes that are not over, where they go. */
  size_t posted, flying;
  uint64_t armed; /* which of these wait for a counter: bit s mod 64 of slice s */
  gfc_grant grant;
  gfc_registration local;
} gfc_end;

typedef enum gfc_phase { GFC_POSTED, GFC_RUNNING, GFC_ENDING, GFC_OVER } gfc_phase;

/* One input or output. */
typedef struct gfc_shard {
  uint8_t *bytes;
  uint8_t *trailers; /* one a slice: of received inputs, and of outputs that are sent */
  uint8_t *kept;     /* outputs: a copy goes here, or NULL */
  gfc_checksum *sum; /* of outputs that are sent, unless what was received is sent on as it is */
  void *descriptor;  /* for sending */
  int same;          /* outputs: the input that it is, or -1: it is computed */
  bool sent;         /* outputs: is it? */
} gfc_shard;

struct gfsmith_operation {
  gfc_operations *all;
  atomic_uint references; /* of the engine, the handle, work that is under way */

  /* As it was posted. */
  gfsmith_job job;
  uint64_t posted_at, until; /* gfc_now */
  size_t length, slice, slices;
  gfc_kernel *kernel; /* NULL: nothing is computed */
  unsigned inputs, outputs, locals;
  gfc_shard *shard;     /* inputs, then outputs */
  const uint8_t **read; /* the kernel's inputs and outputs: room for each slice's addresses */
  uint8_t **write;
  unsigned receives, ends;
  gfc_end *end; /* those that receive, then those that send */
  gfc_block *block;
  bool forwards; /* nothing is computed, and the provider sends by itself */
  bool by_hand;  /* gfsmith_incoherent: the engine computes nothing and sends when told */
  gfsmith_done *done;
  void *context;

  /* How far it is. */
  gfsmith_operation *prev, *next;
  gfc_phase phase;
  gfc_timer timer; /* the deadline, then the grace */
  size_t computed; /* slices */
  size_t within;   /* bytes of the next one that are computed */
  bool queued;     /* gfc_advance is going to be run */
  unsigned open;   /* ends that are not DONE */
  size_t flying;   /* writes of all ends */
  bool told;       /* it was a peer that refused */
  gfsmith_outcome outcome;

  /* For threads that wait, under the lock. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool over;
  size_t handed; /* by hand: slices that this thread has computed */
  size_t here;   /* by hand: slices that all receiving ends have */
  size_t gone;   /* by hand: slices that no end has to send any more */
  int step;      /* by hand: of the computation that failed */
};

/* ---- operation.c ---- */

void gfc_operation_start(void *operations,
                         void *operation); /* work of gfc_run; takes over one reference */
/* Compute what can be computed and send what can be sent; a part of it if it is much, the rest from
 * the loop. */
void gfc_advance(gfsmith_operation *operation);
/* A control message; without a link it is not needed. */
void gfc_tell(gfc_operations *all, uint16_t rank, uint8_t type, const uint8_t *body, size_t bytes);

/* ---- ending.c ---- */

void gfc_operation_cancel(void *operations,
                          void *operation); /* work of gfc_run; takes over one reference */
void gfc_operation_late(gfc_timer *timer);  /* its time is over: the deadline, then the grace */
/* Every event of an operation ends with this: is it over? Then tell, and let go of it. */
void gfc_settle(gfsmith_operation *operation);
/* Fail, if it has not yet: tell all peers whose transfers are not done. `cause`: where a peer
 * refused, or NULL. The operation goes on ending; gfc_settle is left to the caller. */
void gfc_fail(gfsmith_operation *operation, const gfc_end *cause, int status, int rank,
              const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Fail as the peer of this end did. */
void gfc_end_refused(gfc_end *end, const gfc_refusal *refusal);
/* Nothing comes at this end any more. */
void gfc_end_done(gfc_end *end);

/* ---- handle.c: any thread ---- */

int gfc_handle_init(gfsmith_operation *operation); /* lock and condition; GFSMITH_ENOMEM */
void gfc_handle_end(gfsmith_operation *operation);

void gfc_operation_hold(gfsmith_operation *operation);
void gfc_operation_drop(gfsmith_operation *operation);
/* Tell that it is over. The engine's thread. */
void gfc_handle_over(gfsmith_operation *operation);

/* ---- compute.c ---- */

/* Compute slice s and write its trailers, or go on with it: as far as there is room for, in bytes
 * of inputs and outputs, of which what is done is taken. `whole`: is it done? Any thread, one at a
 * time. */
int gfc_compute(gfsmith_operation *operation, size_t s, size_t *room, bool *whole);
/* Bytes of slice s. */
size_t gfc_slice_bytes(const gfsmith_operation *operation, size_t s);

/* ---- request.c, primitives.c, layout.c, create.c: any thread ---- */

typedef struct gfc_request {
  const gfsmith_job *job;
  const gfsmith_wait *wait;
  const gfsmith_calc *calc;
  const gfsmith_memory *memory;
  const gfsmith_stripe *stripe;
} gfc_request;

extern const gfsmith_wait gfc_no_wait;
extern const gfsmith_stripe gfc_no_stripe;

/* Is nothing of it NULL? */
bool gfc_request_complete(const gfsmith_node *node, const gfc_request *request);

/* Can it be posted? Its parts are not NULL. */
bool gfc_request_valid(const gfsmith_node *node, const gfc_request *request);

/* All of an operation that the caller says: ends, slices, the caller's memory. */
int gfc_lay_out(gfsmith_operation *operation, const gfc_request *request);
/* Its block, and with it all addresses that are not the caller's. */
int gfc_lay_out_block(gfsmith_operation *operation);

/* Check a request, whose parts are not NULL, and make an operation of it, with one reference. */
int gfc_operation_create(gfsmith_operation **out, gfsmith_node *node, const gfc_request *request);
/* Give back memory and kernel; again, nothing. */
void gfc_operation_empty(gfsmith_operation *operation);
void gfc_operation_free(gfsmith_operation *operation);

/* ---- incoming.c, outgoing.c ---- */

void gfc_receive_ask(gfc_end *end); /* grant, as soon as there is a link */
void gfc_receive_landed(gfc_end *end, size_t s);
void gfc_receive_close(
    gfc_end *end); /* nobody can write any more: give back slot and registrations */

void gfc_send_granted(gfc_end *end, const gfc_grant *grant);
void gfc_send_push(gfc_end *end);
void gfc_send_over(gfc_end *end, int status);

/* ---- triggers.c ---- */

/* Can the provider do this operation's sending? */
bool gfc_forwards(const gfsmith_operation *operation);
/* A counter for a receiving end that is being granted; NULL: none is needed, or to be had. */
struct fid_cntr *gfc_trigger_arm(gfc_end *end);
/* The receiving end whose counter a sending end goes by, or NULL. */
const gfc_end *gfc_trigger_of(const gfc_end *end);
/* A slice has landed: nothing that waited for it may be overlooked. */
void gfc_trigger_landed(const gfc_end *end);
/* The receiver of this end does not look any more at what comes: have all go off that has not, so
 * that it is over. */
void gfc_triggers_flush(gfc_operations *all, const gfc_key *key);
/* It is over. */
void gfc_triggers_close(gfsmith_operation *operation);
/* The engine has ended. */
void gfc_triggers_free(gfc_operations *all);

#endif
