/* Seals: the authentication codes of all traffic on a link. Each direction has a key for frames and
 * a key for writes, derived from the greetings (session.h).
 *
 * A tag is that of ChaCha20-Poly1305 (RFC 8439; libsodium, and OpenSSL for many bytes) without
 * text: the sealed bytes are its additional data. The nonce holds the number of the frame or write,
 * so no key uses one twice, and a tag is valid at one place of the link only. */
#ifndef GFC_SEAL_H
#define GFC_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GFC_TAG_BYTES = 16, GFC_SEAL_KEY_BYTES = 32 };

/* The keys of one direction. */
typedef struct gfc_seal {
  uint8_t frames[GFC_SEAL_KEY_BYTES], writes[GFC_SEAL_KEY_BYTES];
} gfc_seal;

/* Compute the tag of a frame: of its bytes after the tag. */
void gfc_seal_frame(const gfc_seal *seal, uint64_t number, const uint8_t *bytes, size_t count,
                    uint8_t tag[GFC_TAG_BYTES]);
/* In constant time. */
bool gfc_seal_frame_valid(const gfc_seal *seal, uint64_t number, const uint8_t *bytes, size_t count,
                          const uint8_t tag[GFC_TAG_BYTES]);

/* Compute the tag of a write: of its payload and of the 32 bits that identify it. */
void gfc_seal_write(const gfc_seal *seal, uint64_t number, uint32_t data, const uint8_t *payload,
                    size_t bytes, uint8_t tag[GFC_TAG_BYTES]);
bool gfc_seal_write_valid(const gfc_seal *seal, uint64_t number, uint32_t data,
                          const uint8_t *payload, size_t bytes, const uint8_t tag[GFC_TAG_BYTES]);

#endif
