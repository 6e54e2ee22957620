/* The data model of operations, and their creation and memory.
 *
 * An operation has an *end* for every transfer that it receives or sends, and works slice by slice:
 * when slice s of all inputs has arrived, it is computed and handed to the links. The states of an
 * end:
 */
// clang-format off
/*
 *   receiving end
 *
 *     IDLE --- GRANT sent ---> GRANTED --- all slices came, LANDED sent --------> DONE
 *      |                          |
 *      |                          |  the operation failed, REFUSE sent
 *      |                          v
 *      |                       REVOKED --- RELEASE came, or the link is down ---> DONE
 *      |
 *      +--- the operation failed, REFUSE sent ----------------------------------> DONE
 *
 *   sending end
 *
 *     IDLE --- GRANT came ---> GRANTED --- LANDED came -------------------------> DONE
 *      |                          |
 *      +--------------------------+--- the operation failed, REFUSE sent -------> DONE
 *
 * A GRANT is sent when there is a link. If the link goes down, or the peer sends REFUSE, the operation
 * fails. A REFUSE for which there is no link is sent when there is one (pending_messages.h); a peer
 * that sent REFUSE itself and holds no grant gets none.
 */
// clang-format on
/*
 * A failed operation is over when no peer can write into its memory any more and no link reads from
 * it: at the latest GFC_GRACE_MS after its failure, because links that still access it are then
 * taken down. Therefore late data cannot land in memory that has another owner, independently of
 * how a provider treats closed keys.
 *
 * The modules that work with operations, each of which depends only on those above it:
 *
 *   wire, pending_messages        messages between operations
 *   kernel_cache, memory          kernels, registered memory
 *   operation                     data model, creation and memory
 *   compute, triggers             computing a slice; writes that the provider triggers
 *   completion                    end of operations
 *   transfer                      receiving and sending ends
 *   progress                      start and continuation of operations
 *   operations                    all operations of a node, and the events of the links
 *   primitives                    the public calls
 *   choices                       composed or incoherent, by graph and length
 *
 * Everything belongs to the engine's thread, unless a comment states otherwise. */
#ifndef GFC_OPERATION_H
#define GFC_OPERATION_H

#include <pthread.h>
#include <stdatomic.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

#include "kernel_cache.h"
#include "link.h"
#include "memory.h"
#include "pending_messages.h"
#include "wire.h"

enum { GFC_GRACE_MS = 1000 };

/* The most writes of one end under way. */
enum { GFC_WINDOW = 64 };

/* The most writes of one link that wait for a counter: they occupy places that other messages need
 * as well (a link has 32), and those messages may carry the data that advance the counters. */
enum { GFC_ARMED_MAX = 8 };

typedef struct gfc_operations gfc_operations;

typedef enum gfc_end_state { GFC_IDLE, GFC_GRANTED, GFC_REVOKED, GFC_DONE } gfc_end_state;

/* A counter of libfabric, and the registration to which it is bound. */
typedef struct gfc_counter {
  struct fid_cntr *fid;
  gfc_registration trailers;
  struct gfc_counter *next;
} gfc_counter;

typedef struct gfc_end {
  UT_hash_handle hh;
  gfc_transfer_key key;
  bool listed; /* is it in the table of ends? */
  gfc_end_state state;
  gfsmith_operation *operation;
  unsigned index; /* the input that is received, or the output that is sent */

  /* Receiving: slices that have arrived, in order; where the peer writes. */
  size_t landed;
  bool asked; /* the operation has requested the grant of this end */
  uint16_t slot;
  gfc_registration payload, trailers;
  gfc_counter *counter; /* the provider's count of the landed slices; NULL: it does not count */

  /* Sending: slices handed to the link, writes that are not over, where they go. */
  size_t posted, flying;
  uint64_t armed; /* the writes that wait for a counter: bit s mod 64 of slice s */
  gfc_grant grant;
  uint8_t
      *tagged; /* trailers: copies of the output's, with the tags of this link; NULL: not sealed */
  gfc_registration local;
} gfc_end;

typedef enum gfc_phase { GFC_POSTED, GFC_RUNNING, GFC_ENDING, GFC_OVER } gfc_phase;

/* One input or output. */
typedef struct gfc_shard {
  uint8_t *bytes;
  /* Of received inputs: where the peer writes. If slices are sealed, each is copied from there
   * before it is checked: a write that follows changes nothing. */
  uint8_t *landing;
  uint8_t *trailers; /* one for each slice: of received inputs, and of outputs that are sent */
  uint8_t *kept;     /* outputs: the address of a copy, or NULL */
  gfc_checksum *sum; /* of outputs that are sent, unless a received shard is sent on unchanged */
  void *descriptor;  /* for sending */
  int same;          /* outputs: the input that it equals, or -1: it is computed */
  bool sent;         /* outputs: is it sent? */
} gfc_shard;

struct gfsmith_operation {
  gfc_operations *all;
  atomic_uint references; /* of the engine, the handle, work that is under way */

  /* Parameters of the call that posted it. */
  gfsmith_job job;
  uint64_t posted_at, until; /* gfc_now */
  size_t length, slice, slices;
  gfc_kernel *kernel; /* NULL: nothing is computed */
  unsigned terms;     /* coefficients of the kernel that are not 0 */
  unsigned inputs, outputs, locals;
  gfc_shard *shard;     /* inputs, then outputs */
  const uint8_t **read; /* inputs and outputs of the kernel: room for the addresses of a slice */
  uint8_t **write;
  unsigned receives, ends;
  gfc_end *end; /* receiving ends, then sending ends */
  gfc_block *block;
  bool sealed;   /* gfc_sealed */
  bool forwards; /* nothing is computed, and the provider forwards by itself */
  bool by_hand;  /* gfsmith_incoherent: the engine computes nothing and sends only on request */
  gfsmith_done *done;
  void *context;

  /* Its progress. */
  gfsmith_operation *prev, *next;
  gfc_phase phase;
  gfc_timer timer; /* the deadline, then the grace period */
  size_t computed; /* slices */
  size_t within;   /* bytes of the next slice that are computed */
  bool queued;     /* is gfc_advance queued as work? */
  unsigned open;   /* ends that are not DONE */
  size_t flying;   /* writes under way, of all ends */
  bool told;       /* a peer refused, and outcome.reason has its description */
  gfsmith_outcome outcome;
  uint64_t posted_ns;  /* gfc_now_ns */
  gfsmith_trace trace; /* the kernel's thread counts `products` and `copied`, the caller's
                          `involvements`, the engine's all others */

  /* For threads that wait, under the lock. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool over;
  size_t handed; /* gfsmith_incoherent: slices that the caller's thread has computed */
  size_t here;   /* gfsmith_incoherent: slices that all receiving ends have */
  size_t gone;   /* gfsmith_incoherent: slices that no end has to send any more */
  int step;      /* gfsmith_incoherent: the status of the computation that failed */
};

/* All operations of a node. */
struct gfc_operations {
  gfc_engine *engine;
  uint16_t rank;
  unsigned deadline_ms;
  gfsmith_trace_handler *trace; /* NULL: none */
  void *context;                /* its first argument */
  bool triggers; /* the options ask for triggered operations, and the provider has them */
  gfc_kernels *kernels;
  gfc_memory *memory;

  /* Of the engine's thread. */
  bool stopping;
  gfsmith_operation *list;
  gfc_end *ends; /* of running operations, by key */
  gfc_pending pending;
  uint16_t armed[GFSMITH_RANKS_MAX]; /* writes that may wait for a counter, by peer */
  gfc_end **slot;                    /* the receiving end of each slot, by number */
  uint16_t *unused;                  /* numbers of the unused slots */
  size_t slots, unused_count;
  gfc_counter *counters, *retired; /* to be used again, and not */
};

/* The arguments of a call that posts an operation. */
typedef struct gfc_request {
  const gfsmith_job *job;
  const gfsmith_wait *wait;
  const gfsmith_calc *calc;
  const gfsmith_memory *memory;
  const gfsmith_stripe *stripe;
} gfc_request;

/* Bytes of slice s. */
static inline size_t gfc_slice_bytes(const gfsmith_operation *operation, size_t s) {
  size_t left = operation->length - s * operation->slice;
  return left < operation->slice ? left : operation->slice;
}

/* ---- any thread ---- */

/* Check a request, whose parts are not NULL, and make an operation of it, with one reference. */
int gfc_operation_create(gfsmith_operation **out, gfc_operations *all, const gfc_request *request);
/* Give back memory and kernel; a second call does nothing. */
void gfc_operation_empty(gfsmith_operation *operation);
void gfc_operation_free(gfsmith_operation *operation);

/* Take and drop a reference; the last one frees the operation. */
void gfc_operation_hold(gfsmith_operation *operation);
void gfc_operation_drop(gfsmith_operation *operation);

#endif
