/* One connection: from the first sign of it to its end. */
#ifndef GFC_CONNECTION_H
#define GFC_CONNECTION_H

#include <rdma/fi_eq.h>
#include <rdma/fi_trigger.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "auth.h"
#include "fabric.h"
#include "frame.h"
#include "link.h"

typedef struct gfc_connection gfc_connection;
typedef struct gfc_item gfc_item;

/* A peer may have this many messages and writes on their way to us that we have not told it we have
 * seen. */
enum { GFC_CREDITS = 32 };
/* Posted receives: also for two messages that return credits and two of the handshake, which take
 * none. */
enum { GFC_RECEIVES = GFC_CREDITS + 2, GFC_SENDS = GFC_CREDITS + 2 };

/* What libfabric hands back when something is complete. */
typedef struct gfc_mark {
  union {
    struct fi_context2 plain;
    struct fi_triggered_context triggered;
  } context; /* first: the address of both */
  gfc_item *item;
} gfc_mark;

typedef enum gfc_kind { GFC_RECEIVE, GFC_FRAME, GFC_WRITE } gfc_kind;

/* A posted receive, or something that is sent or waits for it. */
struct gfc_item {
  gfc_mark mark[GFC_PIECES_MAX];
  TAILQ_ENTRY(gfc_item) entry;
  gfc_kind kind;
  bool free;              /* takes no credit */
  uint8_t *buffer;        /* of receives, and of frames that are being sent */
  uint8_t type;           /* of a frame */
  size_t bytes;           /* of its body */
  atomic_size_t *waiting; /* what to take its bytes from when it is gone, or NULL */
  gfc_writing writing;    /* of a write, with `piece` below */
  gfc_piece piece[GFC_PIECES_MAX];
  unsigned posted;    /* pieces that have been posted */
  unsigned under_way; /* posts that are not complete */
  void *copy;         /* what is written in place of the first piece (faults), or NULL */
  uint8_t body[];     /* of a frame that waits */
};
typedef TAILQ_HEAD(gfc_items, gfc_item) gfc_items;

typedef enum gfc_state {
  GFC_ASKING,  /* ours: the challenge is awaited */
  GFC_PROVING, /* ours: the welcome is awaited */
  GFC_COMING,  /* a peer's that has proved itself: the provider is at it */
  GFC_PROVED,  /* it is to come up */
  GFC_UP,
  GFC_DOWN /* it is to be closed */
} gfc_state;

struct gfc_connection {
  TAILQ_ENTRY(gfc_connection) entry;
  gfc_engine *engine;
  struct gfc_peer *peer;
  gfc_state state;
  bool ready;   /* there may be something in the completion queue */
  bool touched; /* something was posted or read since fi_trywait has said that we may sleep */
  bool stalled; /* the provider could not take more */
  int status;   /* of GFC_DOWN: why */
  char reason[GFSMITH_REASON_MAX];
  struct fid_ep *ep;
  struct fid_cq *cq;
  int fd; /* of the completion queue when it is up, or -1 */
  uint8_t *buffers;
  gfc_registration registered; /* of the buffers, if the provider wants that */
  gfc_item *receives;          /* GFC_RECEIVES of them */
  uint8_t *spare[GFC_SENDS];   /* buffers for frames */
  unsigned spares;
  gfc_items queue;       /* waits to be posted */
  gfc_items under_way;   /* posted and not complete */
  unsigned credits;      /* what we may send */
  unsigned owed;         /* credits to return */
  uint32_t sent, got;    /* frames: the sequence numbers of the next ones */
  gfc_dialogue dialogue; /* of ours */
  gfc_timer timer;       /* until it is up: the time for that; then: signs of life */
  uint64_t heard;        /* when the peer was heard last */
};
typedef TAILQ_HEAD(gfc_connections, gfc_connection) gfc_connections;

/* connection.c. Connect to a peer; failures end as those that come later (gfc_peer_lost). */
void gfc_connect(struct gfc_peer *peer);
/* A peer has proved itself: accept, and say this. `info` is libfabric's, and is freed. */
void gfc_accept(struct gfc_peer *peer, struct fi_info *info, const uint8_t *say, size_t bytes);
/* libfabric says that it has failed, or is there, and what the peer has said to that. */
void gfc_failed(gfc_connection *connection, int error, const uint8_t *said, size_t bytes);
void gfc_established(gfc_connection *connection, const uint8_t *said, size_t bytes);
/* It is to end, soon; the first reason counts. */
void gfc_doom(gfc_connection *connection, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The peer has proved itself: it is up, and what there was with it before is closed. */
void gfc_come_up(gfc_connection *connection);
/* End it now: what was to be sent is told, the layer above too. Not from a call of that layer. */
void gfc_close(gfc_connection *connection);

/* queue.c. Append a frame; it goes out as soon as there are credits. GFSMITH_ENOMEM. */
int gfc_enqueue(gfc_connection *connection, uint8_t type, const void *body, size_t bytes,
                atomic_size_t *waiting);
void gfc_flush(gfc_connection *connection);
/* Return credits, if many are owed. */
void gfc_return_credits(gfc_connection *connection);
/* Something that we have sent is complete. */
void gfc_completed(gfc_connection *connection, gfc_item *item);
/* Forget everything; writes are told `status`. */
void gfc_discard(gfc_connection *connection, int status);

/* receive.c. Take what is in the completion queue, a bounded number. */
void gfc_receive(gfc_connection *connection);
int gfc_post_receive(gfc_connection *connection, gfc_item *item);

#endif
