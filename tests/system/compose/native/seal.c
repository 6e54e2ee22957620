/* The tags of seal.c equal those of libsodium for every size around the one from which OpenSSL
 * computes them, also if OpenSSL has no memory, and when the program ends and OpenSSL has freed its
 * data. */
#include <openssl/crypto.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "seal.h"

enum { MOST = 5000, LARGE = 1 << 20 };

static bool starves, ends, looked, looking, uses;
static uint8_t bytes[LARGE];

static void *grow(void *memory, size_t size, const char *file, int line) {
  (void)file, (void)line;
  uses = uses || looking;
  return starves ? NULL : realloc(memory, size);
}

static void *give(size_t size, const char *file, int line) { return grow(NULL, size, file, line); }

static void look(void);

static void take(void *memory, const char *file, int line) {
  (void)file, (void)line;
  if (ends && !looked)
    look();
  free(memory);
}

static bool equal(const gfc_seal *seal, size_t count) {
  static const uint8_t nonce[] = {7, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0};
  uint8_t tag[GFC_TAG_BYTES], right[GFC_TAG_BYTES], text[1];
  crypto_aead_chacha20poly1305_ietf_encrypt_detached(text, right, NULL, NULL, 0, bytes, count, NULL,
                                                     nonce, seal->writes);
  gfc_seal_write(seal, 7, 9, bytes, count, tag);
  bool good = memcmp(tag, right, sizeof tag) == 0;
  good = good && gfc_seal_write_valid(seal, 7, 9, bytes, count, tag);
  good = good && !gfc_seal_write_valid(seal, 8, 9, bytes, count, tag);
  tag[count % GFC_TAG_BYTES] ^= 1;
  good = good && !gfc_seal_write_valid(seal, 7, 9, bytes, count, tag);
  if (!good)
    printf("%zu bytes%s\n", count, starves ? ", without memory" : "");
  return good;
}

static gfc_seal seal;

/* OpenSSL is freeing its data. */
static void look(void) {
  looked = looking = true;
  uses = !equal(&seal, LARGE) || uses;
  looking = false;
}

static void begin_to_end(void) { ends = true; }

static void after_openssl(void) {
  if (!looked || uses || !equal(&seal, LARGE)) {
    puts("OpenSSL is used while the program ends");
    fflush(stdout);
    _exit(1);
  }
}

int main(void) {
  bool good = atexit(after_openssl) == 0; /* before OpenSSL, so it runs after it */
  good = good && CRYPTO_set_mem_functions(give, grow, take) == 1 && sodium_init() >= 0;
  good = good && OPENSSL_atexit(begin_to_end) == 1; /* before that of seal.c, so it runs after it */
  randombytes_buf(&seal, sizeof seal);
  randombytes_buf(bytes, sizeof bytes);
  for (size_t count = 0; good && count < MOST; count++)
    good = equal(&seal, count);
  good = good && equal(&seal, LARGE);
  starves = true;
  good = good && equal(&seal, LARGE);
  starves = false;
  return good ? 0 : 1;
}
