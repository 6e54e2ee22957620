#include "keys.h"

#include "files.h"
#include "report.h"

#include <sodium.h>
#include <string.h>

/* Read the hexadecimal digits of a line. */
static bool read_line(const char *line, size_t length, uint8_t key[GFSMITH_KEY_MAX],
                      size_t *bytes) {
  const char *end;
  return sodium_hex2bin(key, GFSMITH_KEY_MAX, line, length, NULL, bytes, &end) == 0 &&
         end == line + length && *bytes >= GFSMITH_KEY_MIN;
}

/* An empty second line is no key; nothing may follow it. */
static bool read_lines(keys *k, const char *text) {
  size_t first = strcspn(text, "\n");
  if (!read_line(text, first, k->current, &k->current_bytes))
    return false;
  const char *rest = text + first + (text[first] != '\0');
  size_t second = strcspn(rest, "\n");
  if (rest[second + (rest[second] != '\0')] != '\0')
    return false;
  return second == 0 || read_line(rest, second, k->previous, &k->previous_bytes);
}

bool keys_read(keys *k, const char *folder) {
  char text[FILES_TEXT];
  *k = (keys){0};
  if (!files_secret(folder, "key", text))
    return false;
  bool valid = read_lines(k, text);
  sodium_memzero(text, sizeof text);
  if (!valid) {
    keys_erase(k);
    report("%s/key: must be one line, or two with the previous key, of %d to %d bytes as "
           "hexadecimal digits",
           folder, GFSMITH_KEY_MIN, GFSMITH_KEY_MAX);
  }
  return valid;
}

void keys_erase(keys *k) { sodium_memzero(k, sizeof *k); }
