/* Frames, the messages on a connection: a head of 32 bytes, then the body. All numbers are
 * little-endian.
 *
 *   offset  bytes
 *        0     16  tag of all bytes after it (seal.h)
 *       16      8  number of frames and writes that were sent before in this direction
 *       24      4  bytes of the body
 *       28      2  returned credits
 *       30      1  type
 *       31      1  0
 */
#ifndef GFC_FRAME_H
#define GFC_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gfsmith_compose.h"
#include "seal.h"

enum { GFC_HEAD_BYTES = 32, GFC_FRAME_MAX = GFC_HEAD_BYTES + GFSMITH_MESSAGE_MAX };

/* The frame types of the links themselves; the types of operations begin with GFC_CONTROL_FIRST. */
typedef enum gfc_type {
  GFC_CREDIT = 1,  /* only returns the credits in its head; takes no credit itself */
  GFC_PING = 2,    /* requests a PONG */
  GFC_PONG = 3,    /* answers a PING */
  GFC_RENEW = 4,   /* requests another session key (session.h) */
  GFC_RENEWED = 5, /* answers RENEW */
  GFC_SWITCH = 6,  /* frames after it have the other session key */
  GFC_MESSAGE = 16 /* from gfsmith_node_send */
} gfc_type;

typedef struct gfc_frame {
  uint8_t type;
  uint16_t credits;
  uint64_t number;
  size_t bytes;
  const uint8_t *body;
} gfc_frame;

/* Write head and body. @return the bytes of both */
size_t gfc_frame_write(uint8_t *buffer, const gfc_frame *frame, const gfc_seal *seal);
/* Read a frame, which must be authentic. @return the error in words, or NULL */
const char *gfc_frame_read(gfc_frame *frame, const uint8_t *buffer, size_t bytes,
                           const gfc_seal *seal);

#endif
