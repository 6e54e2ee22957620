/* What peers' operations say to each other, and what stands behind every slice. All numbers are
 * little-endian. */
#ifndef GFC_WIRE_H
#define GFC_WIRE_H

#include "link.h"

enum {
  GFC_GRANT = GFC_CONTROL_FIRST, /* receiver to sender: write here */
  GFC_LANDED,  /* receiver to sender: everything is here, and its checksums are right */
  GFC_REFUSE,  /* either to the other: this transfer will not be; from a receiver: answer RELEASE */
  GFC_RELEASE, /* sender to receiver: no more writes will come into this slot */
};

/* Which end of a transfer. */
typedef enum gfc_role { GFC_RECEIVER = 0, GFC_SENDER = 1 } gfc_role;

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
  uint16_t slot; /* granted, with `granted` */
  uint8_t role;  /* of who refuses */
  bool granted;
  bool known;    /* in answer to a refusal: there is nothing to remember */
  int32_t code;  /* gfsmith_compose_status or gfsmith_status */
  int32_t blame; /* the rank that it went wrong with, or -1: who refuses */
  char reason[GFSMITH_REASON_MAX];
} gfc_refusal;

/* LANDED and RELEASE. */
typedef struct gfc_receipt {
  uint64_t job;
  uint16_t edge, slot;
} gfc_receipt;

enum { GFC_GRANT_BYTES = 68, GFC_REFUSAL_MAX = 24 + GFSMITH_REASON_MAX, GFC_RECEIPT_BYTES = 12 };

/* Each returns the bytes written, and each `get` false for a body that cannot be. */
size_t gfc_put_grant(uint8_t *body, const gfc_grant *grant);
bool gfc_get_grant(gfc_grant *grant, const uint8_t *body, size_t bytes);
size_t gfc_put_refusal(uint8_t *body, const gfc_refusal *refusal);
bool gfc_get_refusal(gfc_refusal *refusal, const uint8_t *body, size_t bytes);
size_t gfc_put_receipt(uint8_t *body, const gfc_receipt *receipt);
bool gfc_get_receipt(gfc_receipt *receipt, const uint8_t *body, size_t bytes);

/* Behind every slice: job, number, bytes, XXH3-64 of these and of the payload. It does not name the
 * edge, so who forwards a slice forwards its trailer as it is. */
enum { GFC_TRAILER_BYTES = 32 };

/* The head of a trailer: all of it but the checksum. */
void gfc_trailer_head(uint8_t *trailer, uint64_t job, uint32_t slice, size_t bytes);

/* A checksum that is made piece by piece, while the pieces are in the cache. */
typedef struct XXH3_state_s gfc_checksum;

gfc_checksum *gfc_checksum_create(void); /* NULL: no memory */
void gfc_checksum_free(gfc_checksum *sum);
void gfc_checksum_begin(gfc_checksum *sum, const uint8_t *trailer); /* which has its head */
void gfc_checksum_add(gfc_checksum *sum, const uint8_t *payload, size_t bytes);
void gfc_checksum_end(const gfc_checksum *sum, uint8_t *trailer);

/* NULL, or what is wrong in words. */
const char *gfc_trailer_check(const uint8_t *trailer, uint64_t job, uint32_t slice,
                              const uint8_t *payload, size_t bytes);

#endif
