/* Control messages between the agent (rank 0) and the chunk servers (ranks 1 to k + m).
 *
 * Every message has the same fields; unused ones are zero. In transmission they are little-endian,
 * 76 bytes, followed by the body. A peer's message is accepted only if it decodes: this version, a
 * known type and a valid body length. */
#ifndef STORE_MESSAGE_H
#define STORE_MESSAGE_H

#include "gfsmith_compose.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Raise it with every change of a message: otherwise an agent and a chunk server of two versions
 * take one type for another. Programs before its introduction send 0. */
enum { MESSAGE_VERSION = 1 };

typedef enum message_type {
  /* from a chunk server */
  MESSAGE_HELLO = 1, /* introduction: the body is a greeting */
  MESSAGE_ANSWER,    /* a request has ended: status, and the reason as body */
  MESSAGE_LISTED,    /* part of the list, as body: versions of chunks (wanted = 0), or records (1);
                        instead of a record, the version of a damaged chunk or record */
  MESSAGE_GONE,      /* its memcached is down */
  /* from the agent */
  MESSAGE_WELCOME, /* the layout: the body is its text; hash is the number of the agent's start */
  MESSAGE_PEER,    /* address of another chunk server: sink is its rank, body its address */
  MESSAGE_ENCODE,  /* take part in encoding, store the shard */
  MESSAGE_FETCH,   /* send the shard to the agent */
  MESSAGE_REPAIR,  /* take part in rebuilding; the sink stores the shard */
  MESSAGE_GATHER,  /* the same, with all shards sent to the sink directly */
  MESSAGE_META,    /* store a record: the body; wanted = 1: of a value that exists, also beyond the
                      limit of the room for items */
  MESSAGE_UNMETA,  /* delete the record of a version */
  MESSAGE_FREE,    /* delete record and chunk of a version */
  MESSAGE_LIST,    /* begin to send the list (wanted = 0), or continue (1) */
  MESSAGE_PING,    /* answer */
  MESSAGE_CANCEL,  /* cancel request `version` */
  MESSAGE_WIPE,    /* delete all values */
  MESSAGE_GREET,   /* send the introduction again */
  MESSAGE_TYPES
} message_type;

enum { MESSAGE_HEADER = 76, MESSAGE_BODY = GFSMITH_MESSAGE_MAX - MESSAGE_HEADER };

typedef struct message {
  uint8_t type;
  uint16_t turn;    /* shard i is at rank 1 + (i + turn) % (k + m) */
  uint16_t sink;    /* the rank that receives rebuilt shards */
  uint32_t epoch;   /* of the agent; messages with an older one are ignored */
  uint64_t request; /* links a request and its answer; 0: no answer is wanted; the job of a graph */
  uint64_t version; /* of the value */
  uint64_t hash;    /* of the graph */
  uint64_t present; /* present shards */
  uint64_t wanted;  /* shards to rebuild */
  uint64_t length;  /* bytes of a chunk */
  uint32_t slice;   /* bytes of a slice, 0: whole chunks */
  uint32_t deadline_ms; /* of the operation */
  int32_t status;       /* of an answer */
  const uint8_t *body;  /* not owned */
  uint32_t body_bytes;
} message;

/* Return the bytes written, at most GFSMITH_MESSAGE_MAX. */
size_t message_encode(const message *m, uint8_t *bytes);
/* False: not a valid message. The body points into `bytes`. */
bool message_decode(message *m, const void *bytes, size_t length);

/* Little-endian numbers, for messages and stored data. */
void put_le(uint8_t *at, uint64_t value, unsigned bytes);
uint64_t get_le(const uint8_t *at, unsigned bytes);

#endif
