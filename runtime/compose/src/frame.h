/* Frames, the messages on a connection: a head of 24 bytes, then the body. All numbers are
 * little-endian.
 *
 *   offset  bytes
 *        0      8  XXH3 (64 bits) of all bytes after it
 *        8      4  GFC_MAGIC
 *       12      1  type
 *       13      1  0
 *       14      2  returned credits
 *       16      4  bytes of the body
 *       20      4  sequence number: 0, 1, 2, ... in each direction
 */
#ifndef GFC_FRAME_H
#define GFC_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gfsmith_compose.h"

enum {
  GFC_HEAD_BYTES = 24,
  GFC_FRAME_MAX = GFC_HEAD_BYTES + GFSMITH_MESSAGE_MAX,
  GFC_MAGIC = 0x31434647 /* "GFC1" */
};

/* The frame types of the links themselves; the types of operations begin with GFC_CONTROL_FIRST. */
typedef enum gfc_type {
  GFC_CREDIT = 1,  /* only returns the credits in its head; takes no credit itself */
  GFC_PING = 2,    /* requests a PONG */
  GFC_PONG = 3,    /* answers a PING */
  GFC_MESSAGE = 16 /* from gfsmith_node_send */
} gfc_type;

typedef struct gfc_frame {
  uint8_t type;
  uint16_t credits;
  uint32_t sequence;
  size_t bytes;
  const uint8_t *body;
} gfc_frame;

/* Write head and body. @return the bytes of both */
size_t gfc_frame_write(uint8_t *buffer, const gfc_frame *frame);
/* Read a frame. @return the error in words, or NULL */
const char *gfc_frame_read(gfc_frame *frame, const uint8_t *buffer, size_t bytes);

#endif
