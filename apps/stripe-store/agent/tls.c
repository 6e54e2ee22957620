#include "tls.h"

#include "common/files.h"
#include "common/report.h"

#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>

/* The first error counts: those after it say less. */
static bool complain(const agent *a, const char *name) {
  unsigned long error = ERR_peek_error();
  const char *why =
      ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error)) : ERR_reason_error_string(error);
  report("%s/%s: %s", a->folder, name, why == NULL ? "cannot be used" : why);
  ERR_clear_error();
  return false;
}

static bool use_certificate(const agent *a, SSL_CTX *with) {
  char path[FILES_PATH];
  if (!files_path(path, a->folder, FILES_CERTIFICATE))
    return false;
  return SSL_CTX_use_certificate_chain_file(with, path) == 1 || complain(a, FILES_CERTIFICATE);
}

static bool use_key(const agent *a, SSL_CTX *with) {
  char text[FILES_TEXT];
  if (!files_secret(a->folder, FILES_CERTIFICATE_KEY, text))
    return false;
  if (strstr(text, "ENCRYPTED") != NULL) { /* OpenSSL would ask the terminal for it */
    report("%s/" FILES_CERTIFICATE_KEY ": it has a passphrase; remove that", a->folder);
    sodium_memzero(text, sizeof text);
    return false;
  }
  BIO *lines = BIO_new_mem_buf(text, -1);
  EVP_PKEY *key = lines == NULL ? NULL : PEM_read_bio_PrivateKey(lines, NULL, NULL, NULL);
  bool used = key != NULL && SSL_CTX_use_PrivateKey(with, key) == 1;
  EVP_PKEY_free(key);
  BIO_free(lines);
  sodium_memzero(text, sizeof text);
  return used || complain(a, FILES_CERTIFICATE_KEY);
}

/* OpenSSL compares a certificate and a key by itself only if their types are the same. */
static bool belong_together(const agent *a, const SSL_CTX *with) {
  if (SSL_CTX_check_private_key(with) == 1)
    return true;
  report("%s/" FILES_CERTIFICATE_KEY ": it is the key of another certificate", a->folder);
  ERR_clear_error();
  return false;
}

/* It is used nevertheless: not all clients check the time, and clocks may be wrong. */
static void report_time(const agent *a, const SSL_CTX *with) {
  const X509 *certificate = SSL_CTX_get0_certificate(with);
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
    report("%s/" FILES_CERTIFICATE ": it has expired, so clients may refuse it", a->folder);
  else if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0)
    report("%s/" FILES_CERTIFICATE ": it is not valid yet, so clients may refuse it", a->folder);
}

/* NULL: failed, with a message. */
static SSL_CTX *load(const agent *a) {
  SSL_CTX *with = SSL_CTX_new(TLS_server_method());
  if (with == NULL) {
    report("TLS: %s", no_memory);
    return NULL;
  }
  SSL_CTX_set_min_proto_version(with, TLS1_2_VERSION);
  SSL_CTX_set_options(with, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(with, SSL_MODE_RELEASE_BUFFERS);
  if (use_certificate(a, with) && use_key(a, with) && belong_together(a, with)) {
    report_time(a, with);
    return with;
  }
  SSL_CTX_free(with);
  return NULL;
}

/* Connections that exist keep the old certificate. */
static void on_hangup(evutil_socket_t fd, short what, void *owner) {
  (void)fd;
  (void)what;
  agent *a = owner;
  SSL_CTX *fresh = load(a);
  report(fresh != NULL ? "has read the certificate" : "the certificate stays as it was");
  if (fresh == NULL)
    return;
  SSL_CTX_free(a->tls);
  a->tls = fresh;
}

bool tls_open(agent *a) {
  a->tls = load(a);
  if (a->tls == NULL)
    return false;
  a->renewal = evsignal_new(a->base, SIGHUP, on_hangup, a);
  if (a->renewal == NULL || event_add(a->renewal, NULL) != 0)
    out_of_memory();
  return true;
}

void tls_close(agent *a) {
  SSL_CTX_free(a->tls);
  if (a->renewal != NULL)
    event_free(a->renewal);
}

struct bufferevent *tls_stream(agent *a, evutil_socket_t fd) {
  /* deferred, the end of the input is reported after the bytes before it */
  const int options = BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS;
  SSL *session = SSL_new(a->tls);
  struct bufferevent *stream =
      session == NULL ? NULL
                      : bufferevent_openssl_socket_new(a->base, fd, session,
                                                       BUFFEREVENT_SSL_ACCEPTING, options);
  if (stream == NULL)
    SSL_free(session);
  return stream;
}

void tls_end(struct bufferevent *stream) {
  SSL *session = bufferevent_openssl_get_ssl(stream);
  if (!SSL_is_init_finished(session))
    return;
  SSL_set_shutdown(session, SSL_RECEIVED_SHUTDOWN); /* do not wait for the client's */
  SSL_shutdown(session);
  ERR_clear_error();
}
