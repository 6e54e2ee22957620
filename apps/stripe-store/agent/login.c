#include "login.h"

#include "common/files.h"
#include "common/report.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 64 << 10 }; /* of the file, with a zero byte */

/* Equal hashes are compared instead of texts, so that the time tells nothing about a password. */
static bool equal(const char *text, size_t length, const uint8_t *wanted) {
  uint8_t hash[crypto_generichash_BYTES];
  crypto_generichash(hash, sizeof hash, (const uint8_t *)text, length, NULL, 0);
  return sodium_memcmp(hash, wanted, sizeof hash) == 0;
}

/* Is "USER PASSWORD" the line USER:PASSWORD of the file? Lines without a password do not count. */
static bool among(char *lines, const stripe *given) {
  uint8_t wanted[crypto_generichash_BYTES];
  bool found = false;
  char *next;
  crypto_generichash(wanted, sizeof wanted, given->bytes, given->length, NULL, 0);
  for (char *line = strtok_r(lines, "\r\n", &next); line != NULL;
       line = strtok_r(NULL, "\r\n", &next)) {
    char *colon = strchr(line, ':');
    if (colon == NULL || colon[1] == '\0')
      continue;
    *colon = ' ';
    found = equal(line, strlen(line), wanted) || found;
  }
  return found;
}

/* Trouble is reported once, not for each login. */
static bool read_passwords(agent *a, char lines[ROOM]) {
  char why[FILES_WHY];
  bool done = files_confidential(a->folder, FILES_PASSWORDS, lines, ROOM, why);
  if (!done && !a->locked_out)
    report("logins are refused: %s", why);
  a->locked_out = !done;
  return done;
}

bool login_open(agent *a) {
  char lines[ROOM] = "", why[FILES_WHY];
  bool done = files_confidential(a->folder, FILES_PASSWORDS, lines, ROOM, why);
  sodium_memzero(lines, sizeof lines);
  if (!done)
    report("%s", why);
  return done;
}

/* The file is read each time, so that it can be changed while the agent runs. */
static void log_in(client *c) {
  char lines[ROOM];
  if (!read_passwords(c->agent, lines)) {
    client_answer(c, "SERVER_ERROR the passwords cannot be read");
    client_quit(c);
    sodium_memzero(lines, sizeof lines);
    return;
  }
  c->known = among(lines, c->value);
  sodium_memzero(lines, sizeof lines);
  client_answer(c, c->known ? "STORED" : "CLIENT_ERROR authentication failure");
  if (c->known)
    client_over(c);
  else
    client_quit(c); /* one try for each connection */
}

bool login_done(client *c) {
  if (c->known || c->request.verb == VERB_QUIT)
    return true;
  if (c->request.verb == VERB_SET) {
    log_in(c);
  } else {
    client_answer(c, "CLIENT_ERROR unauthenticated");
    client_over(c);
  }
  return false;
}
