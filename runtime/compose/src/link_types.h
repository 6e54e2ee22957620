/* Data that the operations and the transport exchange: control messages, writes, and the functions
 * by which the transport reports events. */
#ifndef GFC_LINK_TYPES_H
#define GFC_LINK_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fid_cntr; /* libfabric's counter */

/* Types of control messages that the operations define are 32 to 255; smaller ones belong to the
 * links. */
enum { GFC_CONTROL_FIRST = 32 };

/* The functions that the transport calls on events. `observer` is given to gfc_engine_start. */
typedef struct gfc_link_events {
  void (*up)(void *observer, uint16_t rank);
  /* After `down` no data of the link arrive. */
  void (*down)(void *observer, uint16_t rank, int status, const char *reason);
  void (*control)(void *observer, uint16_t rank, uint8_t type, const void *body, size_t bytes);
  /* A peer's write with this data has landed. */
  void (*written)(void *observer, uint16_t rank, uint32_t data); /* gfc_authentic */
  /* A gfc_write is over. */
  void (*sent)(void *observer, void *context, int status);
  /* The node is being destroyed: end all operations. `sent` and `down` are still called later. */
  void (*stop)(void *observer);
} gfc_link_events;

/* One piece of a write: local memory and its destination in the peer's memory. */
typedef struct gfc_piece {
  const void *local;
  size_t bytes;         /* may be 0: nothing is written */
  void *descriptor;     /* of the local memory */
  uint64_t remote, key; /* at the peer */
} gfc_piece;

enum { GFC_PIECES_MAX = 4 };

/* A write of pieces into a peer's memory, in this order and in order with all other traffic of the
 * link; then the peer is notified with `data`. */
typedef struct gfc_writing {
  const gfc_piece *piece; /* copied */
  /* The engine writes the tag of the first piece here, GFC_TAG_BYTES in the memory of the last
   * piece, when it posts the write. NULL: no tag. Without `payload`, the tag is that of no bytes.
   */
  uint8_t *tag;
  bool payload;    /* is the first piece the payload? */
  unsigned pieces; /* 1 to GFC_PIECES_MAX */
  uint32_t data;
  /* true: `sent` waits until the write has landed; false: until the local memory may be reused. */
  bool delivered;
  /* Not NULL: the provider waits until this counter has reached the threshold (gfc_can_trigger);
   * later sends may then overtake the write. */
  struct fid_cntr *counter;
  uint64_t threshold;
  void *context;
} gfc_writing;

#endif
