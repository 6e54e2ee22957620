#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* open */
#endif

#include "device.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "open_file.h"

/* Limits of a description: bytes of the file and of a line. */
enum { FILE_MAX = 4096, LINE_MAX_BYTES = 256 };

typedef struct key {
  const char *name;
  size_t offset; /* offset in gfs_device */
  unsigned least, most;
  bool power; /* must the value be a power of two? */
} key;

static const key keys[] = {
    {"line", offsetof(gfs_device, line), 64, 4096, true},
    {"buffer", offsetof(gfs_device, buffer), 1, 1u << 30, false},
    {"latency", offsetof(gfs_device, latency), 1, 1000000, false},
    {"streams", offsetof(gfs_device, streams), 1, 4096, false},
    {"channels", offsetof(gfs_device, channels), 1, 64, false},
};

enum { KEYS = sizeof keys / sizeof keys[0] };

/* The state of the parser. */
typedef struct reading {
  gfs_device device;
  bool table;           /* [device] was read */
  bool given[KEYS + 1]; /* keys that were read; the last entry: name */
  unsigned line;        /* current line of the file, from 1 */
  char *why;
  size_t size;
} reading;

void gfs_device_defaults(gfs_device *device) {
  *device = (gfs_device){.name = "dram", .line = 64, .streams = 32, .channels = 1};
}

static bool wrong(const reading *r, const char *what) {
  snprintf(r->why, r->size, "line %u: %s", r->line, what);
  return false;
}

static bool blank(char c) { return c == ' ' || c == '\t'; }

static const char *skip_blanks(const char *at) {
  while (blank(*at))
    at++;
  return at;
}

/* Is the rest of the line blank or a comment? */
static bool ends(const char *at) {
  at = skip_blanks(at);
  return *at == '\0' || *at == '#';
}

static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool plain_text(char c) { return (c >= ' ' && c <= '~') || c == '\t'; }

static bool digit(char c) { return c >= '0' && c <= '9'; }

/* Parse a decimal number of TOML: no leading zero, '_' only between digits. Return the position
 * after it, or NULL. */
static const char *integer(const char *at, unsigned long long *value) {
  const char *start = at;
  *value = 0;
  for (; digit(*at) || (*at == '_' && at > start && digit(at[-1]) && digit(at[1])); at++)
    if (*at != '_' && *value <= UINT32_MAX)
      *value = *value * 10 + (unsigned)(*at - '0');
  return at == start || (*start == '0' && at > start + 1) ? NULL : at;
}

static bool read_number(reading *r, unsigned n, const char *at) {
  const key *k = &keys[n];
  unsigned long long value;
  char what[128];
  snprintf(what, sizeof what, "%s is not a number from %u to %u%s", k->name, k->least, k->most,
           k->power ? ", a power of two" : "");
  at = integer(at, &value);
  if (at == NULL || !ends(at) || value < k->least || value > k->most ||
      (k->power && (value & (value - 1)) != 0))
    return wrong(r, what);
  unsigned read = (unsigned)value;
  memcpy((char *)&r->device + k->offset, &read, sizeof read);
  return true;
}

static bool read_name(reading *r, const char *at) {
  const char *what = "name is not 1 to 47 letters, digits, blanks and . _ + - in double quotes";
  size_t used = 0;
  if (*at++ != '"')
    return wrong(r, what);
  for (; letter(*at) || digit(*at) || (*at != '\0' && strchr(" ._+-", *at) != NULL); at++) {
    if (used == sizeof r->device.name - 1)
      return wrong(r, what);
    r->device.name[used++] = *at;
  }
  r->device.name[used] = '\0';
  return used > 0 && *at == '"' && ends(at + 1) ? true : wrong(r, what);
}

/* Parse KEY = VALUE. */
static bool read_pair(reading *r, const char *at) {
  size_t length = 0;
  while (letter(at[length]))
    length++;
  unsigned n = 0;
  while (n < KEYS && (strlen(keys[n].name) != length || memcmp(at, keys[n].name, length) != 0))
    n++;
  if (n == KEYS && (length != 4 || memcmp(at, "name", 4) != 0))
    return wrong(r, "unknown key; allowed: name, line, buffer, latency, streams, channels");
  if (r->given[n])
    return wrong(r, "a key is given twice");
  r->given[n] = true;
  at = skip_blanks(at + length);
  if (*at != '=')
    return wrong(r, "a key without = and a value");
  at = skip_blanks(at + 1);
  return n == KEYS ? read_name(r, at) : read_number(r, n, at);
}

static bool read_line(reading *r, const char *at) {
  at = skip_blanks(at);
  if (ends(at))
    return true;
  if (*at == '[') {
    at = skip_blanks(at + 1);
    bool device = strncmp(at, "device", 6) == 0;
    at = skip_blanks(device ? at + 6 : at);
    if (!device || *at != ']' || !ends(at + 1) || r->table)
      return wrong(r, "not the one table [device]");
    r->table = true;
    return true;
  }
  return r->table ? read_pair(r, at) : wrong(r, "a key before the table [device]");
}

/* Parse all lines of `text`, which is split in place. */
static bool read_text(reading *r, char *text, size_t bytes) {
  for (size_t start = 0, end; start < bytes; start = end + 1) {
    r->line++;
    for (end = start; end < bytes && text[end] != '\n'; end++)
      if (!plain_text(text[end]) && (text[end] != '\r' || text[end + 1] != '\n'))
        return wrong(r, "not ASCII text");
    if (end - start >= LINE_MAX_BYTES)
      return wrong(r, "a line of more than 255 bytes");
    size_t last = end > start && text[end - 1] == '\r' ? end - 1 : end;
    text[last] = text[end] = '\0';
    if (!read_line(r, text + start))
      return false;
  }
  if (!r->table) {
    snprintf(r->why, r->size, "there is no table [device]");
    return false;
  }
  return true;
}

bool gfs_device_parse(const char *text, size_t bytes, gfs_device *device, char *why, size_t size) {
  char lines[FILE_MAX + 1] = "";
  if (bytes > FILE_MAX) {
    snprintf(why, size, "it has more than %d bytes", (int)FILE_MAX);
    return false;
  }
  memcpy(lines, text, bytes);
  reading r = {.why = why, .size = size};
  gfs_device_defaults(&r.device);
  if (!read_text(&r, lines, bytes))
    return false;
  *device = r.device;
  return true;
}

bool gfs_device_read(const char *file, gfs_device *device, char *why, size_t size) {
  char text[FILE_MAX + 1];
  FILE *in = gfs_open_file(file, false);
  if (in == NULL) {
    snprintf(why, size, "it cannot be read");
    return false;
  }
  size_t bytes = fread(text, 1, sizeof text, in);
  bool failed = ferror(in) != 0;
  fclose(in);
  if (failed) {
    snprintf(why, size, "it cannot be read");
    return false;
  }
  return gfs_device_parse(text, bytes, device, why, size);
}
