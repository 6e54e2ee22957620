#include "client_model.h"

#include <inttypes.h>
#include <stdarg.h>

static const char too_large[] = "SERVER_ERROR object too large for cache";
static const char no_number[] = "CLIENT_ERROR cannot increment or decrement non-numeric value";

/* A command while it is made. */
typedef struct command {
  unsigned key;
  bool noreply;
  bool expired; /* its time is in the past */
  unsigned flags;
  char value[MODEL_VALUE_MAX + 64];
  size_t length;
  uint64_t number;
} command;

static void put_bytes(text *to, const char *bytes, size_t length) {
  REQUIRE(to->length + length <= sizeof to->bytes);
  memcpy(to->bytes + to->length, bytes, length);
  to->length += length;
}

static void __attribute__((format(printf, 2, 3))) put(text *to, const char *format, ...) {
  char words[512];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  put_bytes(to, words, (size_t)length);
}

static void answer(model *m, const command *c, const char *words) {
  if (!c->noreply)
    put(&m->expected, "%s\r\n", words);
}

static const char *key_text(unsigned key) {
  static char longest[251];
  memset(longest, 'k', sizeof longest - 1);
  return key == 0 ? "a" : key == 1 ? "key" : longest;
}

static const char *noreply(const command *c) { return c->noreply ? " noreply" : ""; }

static bool there(const model_item *item) { return item->exists && !item->expired; }

/* ---- values ---- */

static void take_value(command *c, input *in) {
  unsigned how = take_below(in, 8);
  c->length = how == 0 ? MODEL_VALUE_MAX - 2 + take_below(in, 5) : take_below(in, 24);
  bool digits = how < 5;
  for (size_t i = 0; i < c->length; i++) {
    char byte = (char)take(in, 1);
    c->value[i] = digits ? (char)('0' + (uint8_t)byte % 10) : byte;
  }
}

static void write_item(model *m, model_item *item, const char *bytes, size_t length) {
  item->exists = true;
  item->version = ++m->version;
  item->length = length;
  memmove(item->bytes, bytes, length);
}

static void set_item(model *m, model_item *item, const command *c) {
  write_item(m, item, c->value, c->length);
  item->flags = c->flags;
  item->expired = c->expired;
}

/* ---- commands with a value ---- */

static const char *const storing[] = {"set", "add", "replace", "append", "prepend", "cas"};
enum { SET, ADD, REPLACE, APPEND, PREPEND, CAS };

static const char *join(model *m, model_item *item, const command *c, bool behind) {
  char both[2 * MODEL_VALUE_MAX];
  size_t length = item->length + c->length;
  if (length > MODEL_VALUE_MAX)
    return too_large;
  memcpy(both + (behind ? 0 : c->length), item->bytes, item->length);
  memcpy(both + (behind ? item->length : 0), c->value, c->length);
  write_item(m, item, both, length);
  return "STORED";
}

static const char *store(model *m, model_item *item, const command *c, unsigned which) {
  if (c->length > MODEL_VALUE_MAX)
    return too_large;
  if (which == CAS && (!there(item) || item->version != c->number))
    return there(item) ? "EXISTS" : "NOT_FOUND";
  if ((which == ADD) ? there(item) : (which != SET && which != CAS && !there(item)))
    return "NOT_STORED";
  if (which == APPEND || which == PREPEND)
    return join(m, item, c, which == APPEND);
  set_item(m, item, c);
  return "STORED";
}

static void run_store(model *m, command *c, input *in) {
  unsigned which = take_below(in, 6);
  model_item *item = &m->items[c->key];
  take_value(c, in);
  c->flags = take_below(in, 1000);
  c->number = item->version + (take_below(in, 4) == 0);
  put(&m->sent, "%s %s %u %d %zu", storing[which], key_text(c->key), c->flags, c->expired ? -1 : 0,
      c->length);
  if (which == CAS)
    put(&m->sent, " %" PRIu64, c->number);
  put(&m->sent, "%s\r\n", noreply(c));
  put_bytes(&m->sent, c->value, c->length);
  put_bytes(&m->sent, "\r\n", 2);
  answer(m, c, store(m, item, c, which));
}

/* ---- commands without a value ---- */

/* False: the item is no number below 2^64. */
static bool number_of(const model_item *item, uint64_t *number) {
  unsigned __int128 value = 0;
  for (size_t i = 0; i < item->length; i++) {
    if (item->bytes[i] < '0' || item->bytes[i] > '9')
      return false;
    value = value * 10 + (unsigned)(item->bytes[i] - '0');
    if (value > UINT64_MAX)
      return false;
  }
  *number = (uint64_t)value;
  return item->length > 0;
}

static void run_count(model *m, command *c, input *in) {
  bool up = take_below(in, 2) == 0;
  model_item *item = &m->items[c->key];
  uint64_t by = take_below(in, 8) == 0 ? take(in, 8) : take(in, 1), n;
  char digits[24];
  put(&m->sent, "%s %s %" PRIu64 "%s\r\n", up ? "incr" : "decr", key_text(c->key), by, noreply(c));
  if (!there(item)) {
    answer(m, c, "NOT_FOUND");
  } else if (!number_of(item, &n)) {
    answer(m, c, no_number);
  } else {
    n = up ? n + by : n > by ? n - by : 0;
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
    write_item(m, item, digits, (size_t)length);
    answer(m, c, digits);
  }
}

static void run_touch(model *m, command *c) {
  model_item *item = &m->items[c->key];
  put(&m->sent, "touch %s %d%s\r\n", key_text(c->key), c->expired ? -1 : 0, noreply(c));
  if (!there(item)) {
    answer(m, c, "NOT_FOUND");
    return;
  }
  item->version = ++m->version;
  item->expired = c->expired;
  answer(m, c, "TOUCHED");
}

static void run_delete(model *m, command *c) {
  model_item *item = &m->items[c->key];
  put(&m->sent, "delete %s%s\r\n", key_text(c->key), noreply(c));
  answer(m, c, there(item) ? "DELETED" : "NOT_FOUND");
  if (there(item))
    item->exists = false;
}

static void expect_item(model *m, unsigned key, bool versions) {
  const model_item *item = &m->items[key];
  if (!there(item))
    return;
  put(&m->expected, "VALUE %s %u %zu", key_text(key), item->flags, item->length);
  if (versions)
    put(&m->expected, " %" PRIu64, item->version);
  put(&m->expected, "\r\n");
  put_bytes(&m->expected, item->bytes, item->length);
  put(&m->expected, "\r\n");
}

static void run_get(model *m, input *in) {
  bool versions = take_below(in, 2) == 0;
  unsigned count = 1 + take_below(in, 5);
  put(&m->sent, "%s", versions ? "gets" : "get");
  for (unsigned n = 0; n < count; n++) {
    unsigned key = take_below(in, MODEL_KEYS);
    put(&m->sent, " %s", key_text(key));
    expect_item(m, key, versions);
  }
  put(&m->sent, "\r\n");
  put(&m->expected, "END\r\n");
}

static void run_flush(model *m, const command *c) {
  put(&m->sent, "flush_all%s\r\n", noreply(c));
  for (unsigned key = 0; key < MODEL_KEYS; key++)
    m->items[key].exists = false;
  answer(m, c, "OK");
}

void model_command(model *m, input *in) {
  unsigned which = take_below(in, 16);
  command c = {.key = take_below(in, MODEL_KEYS)};
  unsigned flags = (unsigned)take(in, 1);
  c.noreply = flags % 8 == 0;
  c.expired = flags / 8 % 8 == 0;
  if (which < 6)
    run_store(m, &c, in);
  else if (which < 9)
    run_get(m, in);
  else if (which < 11)
    run_count(m, &c, in);
  else if (which == 11)
    run_touch(m, &c);
  else if (which == 12)
    run_delete(m, &c);
  else if (which == 13)
    run_flush(m, &c);
  else if (which == 14) {
    put(&m->sent, "verbosity 1%s\r\n", noreply(&c));
    answer(m, &c, "OK");
  } else {
    put(&m->sent, "get\r\n");
    put(&m->expected, "CLIENT_ERROR bad command line format\r\n");
  }
}
