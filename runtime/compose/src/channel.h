/* The traffic of one connection: frames and writes in both directions, and credits. The beginning
 * and end of connections are in peer.h. */
#ifndef GFC_CHANNEL_H
#define GFC_CHANNEL_H

#include <rdma/fi_eq.h>
#include <rdma/fi_trigger.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "fabric.h"
#include "faults.h"
#include "frame.h"
#include "link_types.h"
#include "session.h"
#include "timer.h"

typedef struct gfc_item gfc_item;

/* The number of a peer's messages and writes in transit whose credits have not been returned to it
 * is at most this. */
enum { GFC_CREDITS = 32 };
/* Posted receives: there are two more for messages that return credits, which take none. */
enum { GFC_RECEIVES = GFC_CREDITS + 2, GFC_SENDS = GFC_CREDITS + 2 };
/* The most answers to a peer that wait for its credits. A peer that follows the protocol returns
 * credits with everything that it sends; one that does not could fill the memory. */
enum { GFC_ANSWERS_MAX = 1 << 14 };

/* The context that libfabric returns with a completion. */
typedef struct gfc_mark {
  union {
    struct fi_context2 plain;
    struct fi_triggered_context triggered;
  } context; /* first: the address of both */
  gfc_item *item;
} gfc_mark;

typedef enum gfc_kind { GFC_RECEIVE, GFC_FRAME, GFC_WRITE } gfc_kind;

/* A posted receive, or a frame or write that is being sent or queued. */
struct gfc_item {
  gfc_mark mark[GFC_PIECES_MAX];
  TAILQ_ENTRY(gfc_item) entry;
  gfc_kind kind;
  bool free;              /* takes no credit */
  bool answer;            /* to the peer, not a message of the application */
  uint8_t *buffer;        /* of receives, and of frames in transmission */
  uint8_t type;           /* of a frame */
  size_t bytes;           /* of its body */
  atomic_size_t *waiting; /* the counter from which its bytes are subtracted at the end, or NULL */
  gfc_writing writing;    /* of a write, with `piece` below */
  bool sealed;            /* of a write: has it its number and tag? */
  gfc_piece piece[GFC_PIECES_MAX];
  unsigned posted;    /* pieces that have been posted */
  unsigned under_way; /* posts that are not complete */
  void *copy;         /* written in place of the first piece (faults), or NULL */
  uint8_t body[];     /* of a queued frame */
};
typedef TAILQ_HEAD(gfc_items, gfc_item) gfc_items;

/* The state of a connection. The channel distinguishes UP, DOWN and the others, in which there is
 * no traffic yet. */
typedef enum gfc_link_state {
  GFC_ASKING,  /* own request: the challenge is awaited */
  GFC_PROVING, /* own request: the welcome is awaited */
  GFC_COMING,  /* request of a peer that has proved itself: the provider connects */
  GFC_PROVED,  /* will come up soon */
  GFC_UP,
  GFC_DOWN /* to be closed soon */
} gfc_link_state;

/* The functions that are called on events of links, and their arguments. */
typedef struct gfc_handlers {
  const gfc_link_events *events;
  void *observer; /* first argument of `events` */
  gfsmith_link_handler *link;
  gfsmith_message_handler *message;
  void *context; /* first argument of both handlers */
} gfc_handlers;

typedef struct gfc_channel {
  gfc_fabric *fabric;
  gfc_faults *faults;
  const gfc_handlers *handlers;
  const gfc_handshake *handshake;
  uint16_t rank; /* of the peer */
  gfc_link_state state;
  int status; /* of GFC_DOWN: why */
  char reason[GFSMITH_REASON_MAX];
  bool ready;   /* there may be entries in the completion queue */
  bool touched; /* something was posted or read since fi_trywait has allowed the engine to sleep */
  bool stalled; /* the provider could not take more */
  struct fid_ep *ep;
  struct fid_cq *cq;
  uint8_t *buffers;
  gfc_registration registered; /* of the buffers, if the provider needs that */
  gfc_item *receives;          /* GFC_RECEIVES of them */
  uint8_t *spare[GFC_SENDS];   /* unused buffers for frames */
  unsigned spares;
  gfc_items queue;          /* not yet posted */
  gfc_items under_way;      /* posted and not complete */
  unsigned credits;         /* messages and writes that we may send */
  unsigned owed;            /* credits to return */
  unsigned answers;         /* in the queue */
  bool answering;           /* is a frame of the peer being handled? */
  uint64_t sent, got;       /* numbers of the next frame to send and to receive */
  uint64_t written, landed; /* writes that were sent and received */
  gfc_session session;
  uint64_t heard, look; /* times at which the peer was last heard, and of the next look at that */
} gfc_channel;

/* Initialize a channel that is zero but for fabric, faults, handlers, handshake, rank and state. */
void gfc_channel_init(gfc_channel *channel);
/* Make the buffers. @return 0, or an error of libfabric's */
int gfc_channel_allocate(gfc_channel *channel);
/* Post all receives, at the endpoint. @return as above */
int gfc_channel_post_receives(gfc_channel *channel);
/* After the endpoint has been closed: discard everything that is queued or under way, with `status`
 * as the result of writes, and free the buffers. */
void gfc_channel_discard(gfc_channel *channel, int status);

/* Go down, soon; the first reason counts. */
void gfc_channel_fail(gfc_channel *channel, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Append a frame, which is sent as soon as there are credits. `waiting` (may be NULL) is decreased
 * by `bytes` when the frame has been sent. GFSMITH_ENOMEM. */
int gfc_channel_send(gfc_channel *channel, uint8_t type, const void *body, size_t bytes,
                     atomic_size_t *waiting);
/* Begin to renew the session, if it has not the current key and this is the side that begins. */
void gfc_channel_renew(gfc_channel *channel);
/* Append a write, as gfc_write. */
int gfc_channel_write(gfc_channel *channel, const gfc_writing *writing);
/* Post frames and writes as far as credits and the provider allow. */
void gfc_channel_flush(gfc_channel *channel);
/* Handle the entries of the completion queue, up to a limit. */
void gfc_channel_receive(gfc_channel *channel);

#endif
