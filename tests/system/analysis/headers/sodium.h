/* The functions of libsodium that handshake and seals call, by contract: the bytes that they read
 * and write, with any results. */
#ifndef ANALYSIS_SODIUM_H
#define ANALYSIS_SODIUM_H

#include <stddef.h>
#include <stdint.h>

typedef struct crypto_auth_hmacsha256_state {
  uint8_t byte[208];
} crypto_auth_hmacsha256_state;

#define crypto_auth_hmacsha256_BYTES 32U
#define crypto_aead_chacha20poly1305_ietf_NPUBBYTES 12U

/*@ requires \valid(tag + (0 .. 15)) && bytes == 0;
  @ requires \valid_read(more + (0 .. count - 1)) && \initialized(more + (0 .. count - 1));
  @ requires \valid_read(nonce + (0 .. 11)) && \initialized(nonce + (0 .. 11));
  @ requires \valid_read(key + (0 .. 31));
  @ assigns tag[0 .. 15] \from more[0 .. count - 1], nonce[0 .. 11], key[0 .. 31];
  @ assigns \result \from \nothing;
  @ ensures \initialized(tag + (0 .. 15)) && \result == 0; */
int crypto_aead_chacha20poly1305_ietf_encrypt_detached(
    uint8_t *to, uint8_t *tag, unsigned long long *tag_bytes, const uint8_t *text,
    unsigned long long bytes, const uint8_t *more, unsigned long long count, const uint8_t *none,
    const uint8_t *nonce, const uint8_t *key);

/*@ requires \valid_read(tag + (0 .. 15)) && \initialized(tag + (0 .. 15)) && bytes == 0;
  @ requires \valid_read(more + (0 .. count - 1)) && \initialized(more + (0 .. count - 1));
  @ requires \valid_read(nonce + (0 .. 11)) && \initialized(nonce + (0 .. 11));
  @ requires \valid_read(key + (0 .. 31));
  @ assigns \result \from tag[0 .. 15], more[0 .. count - 1], nonce[0 .. 11], key[0 .. 31];
  @ ensures -1 <= \result <= 0; */
int crypto_aead_chacha20poly1305_ietf_decrypt_detached(
    uint8_t *to, uint8_t *none, const uint8_t *text, unsigned long long bytes, const uint8_t *tag,
    const uint8_t *more, unsigned long long count, const uint8_t *nonce, const uint8_t *key);

/*@ assigns \result \from \nothing;
  @ ensures -1 <= \result <= 1; */
int sodium_init(void);

/*@ requires \valid(state);
  @ requires \valid_read(key + (0 .. bytes - 1)) && \initialized(key + (0 .. bytes - 1));
  @ assigns *state \from key[0 .. bytes - 1];
  @ ensures \initialized(state); */
int crypto_auth_hmacsha256_init(crypto_auth_hmacsha256_state *state, const uint8_t *key,
                                size_t bytes);

/*@ requires \valid(state) && \initialized(state);
  @ requires \valid_read(in + (0 .. bytes - 1)) && \initialized(in + (0 .. bytes - 1));
  @ assigns *state \from *state, in[0 .. bytes - 1]; */
int crypto_auth_hmacsha256_update(crypto_auth_hmacsha256_state *state, const uint8_t *in,
                                  unsigned long long bytes);

/*@ requires \valid(state) && \initialized(state) && \valid(out + (0 .. 31));
  @ assigns out[0 .. 31] \from *state;
  @ ensures \initialized(out + (0 .. 31)); */
int crypto_auth_hmacsha256_final(crypto_auth_hmacsha256_state *state, uint8_t *out);

/*@ requires \valid_read(a + (0 .. 31)) && \initialized(a + (0 .. 31));
  @ requires \valid_read(b + (0 .. 31)) && \initialized(b + (0 .. 31));
  @ assigns \result \from a[0 .. 31], b[0 .. 31];
  @ ensures -1 <= \result <= 0; */
int crypto_verify_32(const uint8_t *a, const uint8_t *b);

/*@ requires \valid((uint8_t *)at + (0 .. bytes - 1));
  @ assigns ((uint8_t *)at)[0 .. bytes - 1] \from \nothing; */
void sodium_memzero(void *at, size_t bytes);

/*@ requires \valid((uint8_t *)at + (0 .. bytes - 1));
  @ assigns ((uint8_t *)at)[0 .. bytes - 1] \from \nothing;
  @ ensures \initialized((uint8_t *)at + (0 .. bytes - 1)); */
void randombytes_buf(void *at, size_t bytes);

/*@ requires \valid_read((const uint8_t *)a + (0 .. count - 1));
  @ requires \valid_read((const uint8_t *)b + (0 .. count - 1));
  @ assigns \result \from ((const uint8_t *)a)[0 .. count - 1], ((const uint8_t *)b)[0 .. count -
  1]; */
int sodium_memcmp(const void *a, const void *b, size_t count);

#endif
