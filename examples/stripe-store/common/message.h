/* Control messages between the agent (rank 0) and the chunk servers (ranks 1 to k + m).
 *
 * Every message has the same fields; those that a type does not use are zero. On the wire they are
 * little-endian, 76 bytes, and the body follows. What a peer sends is believed only if it decodes:
 * a known type, a known body length. */
#ifndef STORE_MESSAGE_H
#define STORE_MESSAGE_H

#include "gfsmith_compose.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum message_type {
  /* from a chunk server */
  MESSAGE_HELLO = 1, /* who I am: body is a greeting */
  MESSAGE_ANSWER,    /* request is over: status, and the reason as body */
  MESSAGE_LISTED,    /* part of what I have: versions of chunks, or one record, as body */
  MESSAGE_GONE,      /* my memcached is gone */
  /* from the agent */
  MESSAGE_WELCOME, /* the layout: body is its text; hash is that of the group */
  MESSAGE_PEER,    /* another chunk server: sink is its rank, body its address */
  MESSAGE_ENCODE,  /* take part in encoding, keep the shard */
  MESSAGE_FETCH,   /* send the shard to the agent */
  MESSAGE_REPAIR,  /* take part in rebuilding; who is the sink keeps the shard */
  MESSAGE_META,    /* keep a record: the body */
  MESSAGE_UNMETA,  /* forget the record of a version */
  MESSAGE_FREE,    /* forget record and chunk of a version */
  MESSAGE_LIST,    /* begin to tell what you have (wanted = 0), or go on (1) */
  MESSAGE_PING,    /* answer */
  MESSAGE_CANCEL,  /* give up request `version` */
  MESSAGE_WIPE,    /* forget everything */
  MESSAGE_TYPES
} message_type;

enum { MESSAGE_HEADER = 76, MESSAGE_BODY = GFSMITH_MESSAGE_MAX - MESSAGE_HEADER };

typedef struct message {
  uint8_t type;
  uint16_t turn;        /* shard i is at rank 1 + (i + turn) % (k + m) */
  uint16_t sink;        /* the rank that rebuilt shards go to */
  uint32_t epoch;       /* of the agent; an older one is not obeyed */
  uint64_t request;     /* which answer belongs to it, 0: none is wanted; the job of a graph */
  uint64_t version;     /* of the value */
  uint64_t hash;        /* of the graph */
  uint64_t present;     /* shards that are there */
  uint64_t wanted;      /* shards to rebuild */
  uint64_t length;      /* bytes of a chunk */
  uint32_t slice;       /* bytes of a slice, 0: whole chunks */
  uint32_t deadline_ms; /* of the operation */
  int32_t status;       /* of an answer */
  const uint8_t *body;  /* borrowed */
  uint32_t body_bytes;
} message;

/* Bytes written, at most GFSMITH_MESSAGE_MAX. */
size_t message_encode(const message *m, uint8_t *bytes);
/* False: not a message. The body stays in `bytes`. */
bool message_decode(message *m, const void *bytes, size_t length);

/* Little-endian numbers, here and in what is kept. */
void put_le(uint8_t *at, uint64_t value, unsigned bytes);
uint64_t get_le(const uint8_t *at, unsigned bytes);

#endif
