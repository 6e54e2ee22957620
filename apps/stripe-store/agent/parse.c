#include "parse.h"

#include <string.h>

static const char wrong_format[] = "CLIENT_ERROR bad command line format";

typedef struct token {
  const char *at;
  size_t bytes;
} token;

/* The next sequence of bytes without spaces; 0 bytes at the end of the line. */
static token next_token(const char **at, const char *end) {
  while (*at < end && **at == ' ')
    ++*at;
  token t = {*at, 0};
  while (*at < end && **at != ' ')
    ++*at;
  t.bytes = (size_t)(*at - t.at);
  return t;
}

static bool is(token t, const char *word) {
  return strlen(word) == t.bytes && memcmp(word, t.at, t.bytes) == 0;
}

static bool digits(const char *at, size_t bytes, uint64_t most, uint64_t *value) {
  uint64_t n = 0;
  if (bytes == 0)
    return false;
  for (size_t i = 0; i < bytes; i++) {
    unsigned digit = (unsigned)(at[i] - '0');
    if (at[i] < '0' || at[i] > '9' || n > (most - digit) / 10)
      return false;
    n = 10 * n + digit;
  }
  *value = n;
  return true;
}

bool parse_counter(const uint8_t *bytes, size_t length, uint64_t *value) {
  return digits((const char *)bytes, length, UINT64_MAX, value);
}

static bool number(const char **at, const char *end, uint64_t most, uint64_t *value) {
  token t = next_token(at, end);
  return digits(t.at, t.bytes, most, value);
}

static bool seconds(const char **at, const char *end, int64_t *value) {
  token t = next_token(at, end);
  bool minus = t.bytes > 0 && t.at[0] == '-';
  uint64_t n;
  if (!digits(t.at + minus, t.bytes - minus, INT64_MAX, &n))
    return false;
  *value = minus ? -(int64_t)n : (int64_t)n;
  return true;
}

static bool valid_key(token t) {
  if (t.bytes == 0 || t.bytes > PARSE_KEY_MAX)
    return false;
  for (size_t i = 0; i < t.bytes; i++)
    if ((unsigned char)t.at[i] < 0x21 || t.at[i] == 0x7f)
      return false;
  return true;
}

static bool key(request *r, const char **at, const char *end) {
  token t = next_token(at, end);
  r->key = t.at;
  r->key_bytes = t.bytes;
  return valid_key(t);
}

size_t parse_line_most(const char *start, size_t bytes) {
  token t = next_token(&start, start + bytes);
  return is(t, "get") || is(t, "gets") ? PARSE_KEYS_MAX : PARSE_LINE_MAX;
}

bool parse_has_value(verb v) { return v >= VERB_SET && v <= VERB_CAS; }

bool parse_is_binary(const char *start, size_t bytes) {
  return bytes > 0 && (unsigned char)start[0] == 0x80;
}

bool parse_ends_connection(const request *refused, const char *line, size_t length) {
  const char *at = line;
  const bool binary = parse_is_binary(line, length);
  token t = next_token(&at, line + length);
  return parse_has_value(refused->verb) || binary || is(t, "ms") || is(t, "POST");
}

bool parse_next_key(request *r) {
  token t = next_token(&r->rest, r->end);
  r->key = t.at;
  r->key_bytes = t.bytes;
  return t.bytes > 0;
}

static bool keys(request *r, const char *at, const char *end) {
  token t;
  if (!key(r, &at, end))
    return false;
  r->rest = at;
  r->end = end;
  while ((t = next_token(&at, end)).bytes > 0)
    if (!valid_key(t))
      return false;
  return true;
}

/* Is the rest of the line empty, or "noreply"? */
static bool ends(request *r, const char *at, const char *end) {
  token t = next_token(&at, end);
  r->noreply = is(t, "noreply");
  return (t.bytes == 0 || r->noreply) && next_token(&at, end).bytes == 0;
}

static bool storage(request *r, const char *at, const char *end) {
  uint64_t flags;
  if (!key(r, &at, end) || !number(&at, end, UINT32_MAX, &flags) ||
      !seconds(&at, end, &r->exptime) || !number(&at, end, INT64_MAX, &r->bytes))
    return false;
  r->flags = (uint32_t)flags;
  if (r->verb == VERB_CAS && !number(&at, end, UINT64_MAX, &r->number))
    return false;
  return ends(r, at, end);
}

static bool erasure(request *r, const char *at, const char *end) {
  if (!key(r, &at, end))
    return false;
  const char *after = at;
  if (is(next_token(&at, end), "0")) /* old clients send a time; memcached accepts only 0 */
    after = at;
  return ends(r, after, end);
}

static bool flush(request *r, const char *at, const char *end) {
  const char *after = at;
  if (is(next_token(&at, end), "0"))
    after = at;
  return ends(r, after, end);
}

/* memcached accepts "verbosity noreply", too. */
static bool verbosity(request *r, const char *at, const char *end) {
  const char *after = at;
  bool level = number(&after, end, UINT32_MAX, &r->number);
  return ends(r, level ? after : at, end) && (level || r->noreply);
}

/* Clients and monitors of memcached ask for these, too. */
static bool statistics(request *r, const char *at, const char *end) {
  static const char *const kinds[] = {"items", "slabs", "settings", "sizes", "conns"};
  token t = next_token(&at, end);
  bool known = t.bytes == 0;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    known = known || is(t, kinds[i]);
  r->key = t.at;
  r->key_bytes = t.bytes;
  return known && next_token(&at, end).bytes == 0;
}

static bool arguments(request *r, const char *at, const char *end) {
  switch (r->verb) {
  case VERB_GET:
  case VERB_GETS:
    return keys(r, at, end);
  case VERB_INCR:
  case VERB_DECR:
    return key(r, &at, end) && number(&at, end, UINT64_MAX, &r->number) && ends(r, at, end);
  case VERB_TOUCH:
    return key(r, &at, end) && seconds(&at, end, &r->exptime) && ends(r, at, end);
  case VERB_DELETE:
    return erasure(r, at, end);
  case VERB_FLUSH_ALL:
    return flush(r, at, end);
  case VERB_VERBOSITY:
    return verbosity(r, at, end);
  case VERB_STATS:
    return statistics(r, at, end);
  case VERB_VERSION:
  case VERB_QUIT:
    return true; /* memcached ignores the rest of the line */
  default:
    return storage(r, at, end);
  }
}

const char *parse_line(request *r, const char *line, size_t length) {
  static const struct {
    const char *word;
    verb verb;
  } verbs[] = {
      {"get", VERB_GET},         {"gets", VERB_GETS},
      {"set", VERB_SET},         {"add", VERB_ADD},
      {"replace", VERB_REPLACE}, {"append", VERB_APPEND},
      {"prepend", VERB_PREPEND}, {"cas", VERB_CAS},
      {"incr", VERB_INCR},       {"decr", VERB_DECR},
      {"touch", VERB_TOUCH},     {"delete", VERB_DELETE},
      {"stats", VERB_STATS},     {"flush_all", VERB_FLUSH_ALL},
      {"version", VERB_VERSION}, {"verbosity", VERB_VERBOSITY},
      {"quit", VERB_QUIT},
  };
  const char *end = line + length;
  token t = next_token(&line, end);
  *r = (request){0};
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
    if (is(t, verbs[i].word)) {
      r->verb = verbs[i].verb;
      return arguments(r, line, end) ? NULL : wrong_format;
    }
  return "ERROR";
}
