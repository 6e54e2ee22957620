/* Parser of memcached's text protocol. Pure functions on untrusted bytes. */
#ifndef STORE_PARSE_H
#define STORE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PARSE_KEY_MAX = 250, PARSE_LINE_MAX = 65536, PARSE_KEYS_MAX = 1 << 20 };

typedef enum verb {
  VERB_GET,
  VERB_GETS,
  VERB_SET,
  VERB_ADD,
  VERB_REPLACE,
  VERB_APPEND,
  VERB_PREPEND,
  VERB_CAS,
  VERB_INCR,
  VERB_DECR,
  VERB_TOUCH,
  VERB_DELETE,
  VERB_STATS,
  VERB_FLUSH_ALL,
  VERB_VERSION,
  VERB_VERBOSITY,
  VERB_QUIT
} verb;

typedef struct request {
  verb verb;
  const char *key;  /* in the line; the first key of get and gets; stats: the kind */
  size_t key_bytes; /* 1 to PARSE_KEY_MAX; stats: 0 for the general ones */
  const char *rest; /* get, gets: the text between the first key and `end` */
  const char *end;
  uint32_t flags;
  int64_t exptime;
  uint64_t bytes;  /* of the value, which follows the line */
  uint64_t number; /* cas: the version; incr, decr: the amount */
  bool noreply;
} request;

/* Does a value follow the line? */
bool parse_has_value(verb v);

/* The most bytes of a line that begins so: PARSE_KEYS_MAX for get and gets, which clients send with
 * many keys, else PARSE_LINE_MAX. */
size_t parse_line_most(const char *start, size_t bytes);

/* Parse one line without its line end. NULL: valid; otherwise the answer, also without its line
 * end. */
const char *parse_line(request *r, const char *line, size_t length);
/* Does a request of the binary protocol begin there? No line does. */
bool parse_is_binary(const char *start, size_t bytes);
/* May a value, or text of another protocol, follow a line that parse_line has refused? It is not to
 * be taken for commands: its author may be another one than that of the line. */
bool parse_ends_connection(const request *refused, const char *line, size_t length);
/* Advance to the next key of get and gets, which parse_line has checked. False: there is none. */
bool parse_next_key(request *r);

/* Parse the number in a value for incr and decr: digits only, less than 2^64. */
bool parse_counter(const uint8_t *bytes, size_t length, uint64_t *value);

#endif
