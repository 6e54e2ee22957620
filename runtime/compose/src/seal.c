#include "seal.h"

#include <endian.h>
#include <limits.h>
#include <openssl/evp.h>
#include <sodium.h>
#include <string.h>

#include "openssl_use.h"

typedef struct nonce {
  uint8_t byte[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
} nonce;

static nonce nonce_of(uint64_t number, uint32_t data) {
  nonce made;
  number = htole64(number);
  data = htole32(data);
  _Static_assert(sizeof made == sizeof number + sizeof data, "both fill the nonce");
  memcpy(made.byte, &number, sizeof number);
  memcpy(made.byte + sizeof number, &data, sizeof data);
  return made;
}

/* From this size on, OpenSSL's Poly1305 is so much faster than libsodium's that its context pays
 * off. */
enum { LARGE = 2048 };

static bool seal_by_openssl(const uint8_t *key, nonce once, const uint8_t *bytes, size_t count,
                            uint8_t tag[GFC_TAG_BYTES]) {
  int none;
  uint8_t text[1]; /* none of it is used */
  EVP_CIPHER_CTX *context = count > INT_MAX ? NULL : EVP_CIPHER_CTX_new();
  bool sealed = context != NULL &&
                EVP_EncryptInit_ex(context, EVP_chacha20_poly1305(), NULL, key, once.byte) == 1 &&
                EVP_EncryptUpdate(context, NULL, &none, bytes, (int)count) == 1 &&
                EVP_EncryptFinal_ex(context, text, &none) == 1 &&
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, GFC_TAG_BYTES, tag) == 1;
  EVP_CIPHER_CTX_free(context);
  return sealed;
}

/* The tag by OpenSSL. False: it has no memory, or another cipher than it should have, or the
 * program ends. */
static bool seal_large(const uint8_t *key, nonce once, const uint8_t *bytes, size_t count,
                       uint8_t tag[GFC_TAG_BYTES]) {
  if (!gfc_openssl_enter())
    return false;
  bool tagged = seal_by_openssl(key, once, bytes, count, tag);
  gfc_openssl_leave();
  return tagged;
}

static void seal_bytes(const uint8_t *key, nonce once, const uint8_t *bytes, size_t count,
                       uint8_t tag[GFC_TAG_BYTES]) {
  uint8_t text[1]; /* none of it is used */
  if (count >= LARGE && seal_large(key, once, bytes, count, tag))
    return;
  crypto_aead_chacha20poly1305_ietf_encrypt_detached(text, tag, NULL, NULL, 0, bytes, count, NULL,
                                                     once.byte, key);
}

static bool valid(const uint8_t *key, nonce once, const uint8_t *bytes, size_t count,
                  const uint8_t tag[GFC_TAG_BYTES]) {
  uint8_t right[GFC_TAG_BYTES];
  seal_bytes(key, once, bytes, count, right);
  return sodium_memcmp(right, tag, sizeof right) == 0;
}

void gfc_seal_frame(const gfc_seal *seal, uint64_t number, const uint8_t *bytes, size_t count,
                    uint8_t tag[GFC_TAG_BYTES]) {
  seal_bytes(seal->frames, nonce_of(number, 0), bytes, count, tag);
}

bool gfc_seal_frame_valid(const gfc_seal *seal, uint64_t number, const uint8_t *bytes, size_t count,
                          const uint8_t tag[GFC_TAG_BYTES]) {
  return valid(seal->frames, nonce_of(number, 0), bytes, count, tag);
}

void gfc_seal_write(const gfc_seal *seal, uint64_t number, uint32_t data, const uint8_t *payload,
                    size_t bytes, uint8_t tag[GFC_TAG_BYTES]) {
  seal_bytes(seal->writes, nonce_of(number, data), payload, bytes, tag);
}

bool gfc_seal_write_valid(const gfc_seal *seal, uint64_t number, uint32_t data,
                          const uint8_t *payload, size_t bytes, const uint8_t tag[GFC_TAG_BYTES]) {
  return valid(seal->writes, nonce_of(number, data), payload, bytes, tag);
}
