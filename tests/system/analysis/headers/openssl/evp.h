/* The functions of OpenSSL that seals call, by contract: the bytes that they read and write, with
 * any results. */
#ifndef ANALYSIS_EVP_H
#define ANALYSIS_EVP_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

typedef struct EVP_CIPHER_CTX {
  int state;
} EVP_CIPHER_CTX;
typedef struct EVP_CIPHER {
  int kind;
} EVP_CIPHER;

#define EVP_CTRL_AEAD_GET_TAG 0x10

extern EVP_CIPHER_CTX analysis_context;

/*@ assigns \result \from &analysis_context;
  @ ensures \result == \null || \result == &analysis_context; */
EVP_CIPHER_CTX *EVP_CIPHER_CTX_new(void);

/*@ assigns \nothing; */
void EVP_CIPHER_CTX_free(EVP_CIPHER_CTX *context);

/*@ assigns \result \from \nothing; */
const EVP_CIPHER *EVP_chacha20_poly1305(void);

/*@ requires \valid(context);
  @ requires \valid_read(key + (0 .. 31)) && \valid_read(nonce + (0 .. 11));
  @ requires \initialized(nonce + (0 .. 11));
  @ assigns \result \from \nothing; */
int EVP_EncryptInit_ex(EVP_CIPHER_CTX *context, const EVP_CIPHER *kind, void *engine,
                       const uint8_t *key, const uint8_t *nonce);

/*@ requires \valid(context) && to == \null && count >= 0;
  @ requires \valid_read(more + (0 .. count - 1)) && \initialized(more + (0 .. count - 1));
  @ assigns *written, \result \from \nothing;
  @ ensures \initialized(written); */
int EVP_EncryptUpdate(EVP_CIPHER_CTX *context, uint8_t *to, int *written, const uint8_t *more,
                      int count);

/*@ requires \valid(context);
  @ assigns *written, \result \from \nothing;
  @ ensures \initialized(written); */
int EVP_EncryptFinal_ex(EVP_CIPHER_CTX *context, uint8_t *to, int *written);

/*@ requires \valid(context) && \valid((uint8_t *)to + (0 .. count - 1));
  @ assigns ((uint8_t *)to)[0 .. count - 1], \result \from \nothing;
  @ ensures \initialized((uint8_t *)to + (0 .. count - 1)); */
int EVP_CIPHER_CTX_ctrl(EVP_CIPHER_CTX *context, int what, int count, void *to);

#endif
