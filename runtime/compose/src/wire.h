/* The control messages between the operations of two peers, and the trailer after every slice. All
 * numbers are little-endian. */
#ifndef GFC_WIRE_H
#define GFC_WIRE_H

#include "link.h"
#include "seal.h"

enum {
  GFC_GRANT = GFC_CONTROL_FIRST, /* receiver to sender: memory to write to */
  GFC_LANDED, /* receiver to sender: all slices have arrived with correct checksums */
  GFC_REFUSE, /* either direction: this transfer has failed; from a receiver: answer with RELEASE */
  GFC_RELEASE, /* sender to receiver: no more writes to this slot */
};

/* One end of a transfer. */
typedef enum gfc_role { GFC_RECEIVER = 0, GFC_SENDER = 1 } gfc_role;

/* The transfer to which a message belongs, seen from one end. Compared as bytes. */
typedef struct gfc_transfer_key {
  uint64_t job;
  uint16_t rank; /* the peer */
  uint16_t edge;
  uint32_t role; /* gfc_role of this end */
} gfc_transfer_key;

typedef struct gfc_grant {
  uint64_t job, hash;
  uint16_t edge, slot;
  uint64_t length, slice;
  uint64_t payload, payload_key;   /* length bytes */
  uint64_t trailers, trailers_key; /* one for each slice */
} gfc_grant;

typedef struct gfc_refusal {
  uint64_t job;
  uint16_t edge;
  uint16_t slot; /* the granted slot, with `granted` */
  uint8_t role;  /* of the end that refuses */
  bool granted;
  bool known;    /* this is the answer to a refusal: the peer need not store it */
  int32_t code;  /* gfsmith_compose_status or gfsmith_status */
  int32_t blame; /* the rank with which the failure began, or -1: the sender of the refusal */
  char reason[GFSMITH_REASON_MAX];
} gfc_refusal;

/* LANDED and RELEASE. */
typedef struct gfc_receipt {
  uint64_t job;
  uint16_t edge, slot;
} gfc_receipt;

enum { GFC_GRANT_BYTES = 68, GFC_REFUSAL_MAX = 24 + GFSMITH_REASON_MAX, GFC_RECEIPT_BYTES = 12 };

/* Each `put` returns the bytes written, and each `get` returns false for an invalid body. */
size_t gfc_put_grant(uint8_t *body, const gfc_grant *grant);
bool gfc_get_grant(gfc_grant *grant, const uint8_t *body, size_t bytes);
size_t gfc_put_refusal(uint8_t *body, const gfc_refusal *refusal);
bool gfc_get_refusal(gfc_refusal *refusal, const uint8_t *body, size_t bytes);
size_t gfc_put_receipt(uint8_t *body, const gfc_receipt *receipt);
bool gfc_get_receipt(gfc_receipt *receipt, const uint8_t *body, size_t bytes);

/* The trailer after every slice: job, number, bytes, XXH3-64 of these and of the payload. It does
 * not name the edge, so that a node which forwards a slice forwards its trailer unchanged. */
enum { GFC_TRAILER_BYTES = 32 };
/* In memory, and on the link, the tag of the payload follows (gfc_writing), which every link makes
 * for itself. */
enum { GFC_TRAILER_STRIDE = GFC_TRAILER_BYTES + GFC_TAG_BYTES };

/* Write the head of a trailer: all of it except the checksum. */
void gfc_trailer_head(uint8_t *trailer, uint64_t job, uint32_t slice, size_t bytes);

/* A checksum that is computed piece by piece, while the pieces are in the cache. */
typedef struct XXH3_state_s gfc_checksum;

gfc_checksum *gfc_checksum_create(void); /* NULL: no memory */
void gfc_checksum_free(gfc_checksum *sum);
void gfc_checksum_begin(gfc_checksum *sum, const uint8_t *trailer); /* the head must be written */
void gfc_checksum_add(gfc_checksum *sum, const uint8_t *payload, size_t bytes);
void gfc_checksum_end(const gfc_checksum *sum, uint8_t *trailer);

/* Check a slice. @return NULL, or the error in words */
const char *gfc_trailer_check(const uint8_t *trailer, uint64_t job, uint32_t slice,
                              const uint8_t *payload, size_t bytes);

#endif
