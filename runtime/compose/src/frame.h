/* Messages on a connection: a head of 24 bytes, then the body. All numbers are little-endian.
 *
 *   offset  bytes
 *        0      8  XXH3 (64 bits) of all that follows
 *        8      4  GFC_MAGIC
 *       12      1  type
 *       13      1  0
 *       14      2  credits that are returned
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

/* The links' own types; those of the layer above begin with GFC_CONTROL_FIRST. */
typedef enum gfc_type {
  GFC_CREDIT = 1,  /* nothing but the head's credits; it takes none itself */
  GFC_PING = 2,    /* say something */
  GFC_PONG = 3,    /* something */
  GFC_MESSAGE = 16 /* of gfsmith_node_send */
} gfc_type;

typedef struct gfc_frame {
  uint8_t type;
  uint16_t credits;
  uint32_t sequence;
  size_t bytes;
  const uint8_t *body;
} gfc_frame;

/* Write head and body. @return all bytes */
size_t gfc_frame_write(uint8_t *buffer, const gfc_frame *frame);
/* Read them. @return what is wrong, or NULL */
const char *gfc_frame_read(gfc_frame *frame, const uint8_t *buffer, size_t bytes);

#endif
