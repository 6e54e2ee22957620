#include "contents.h"

#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define COUNTER (UINT64_C(1) << 63) /* in a token: it is a counter */

enum { TOKENS = 64, CONTENTS = 1 << 18, LETTERS = 512 };

typedef struct joined {
  uint64_t token[TOKENS];
  size_t count;
} joined;

static const joined *all[CONTENTS]; /* by the hash of the tokens; 0: none */

static content number_of(const joined *j) {
  size_t at = XXH3_64bits(j->token, j->count * sizeof *j->token) % (CONTENTS - 1) + 1;
  for (size_t tries = 0; tries < CONTENTS; tries++, at = at % (CONTENTS - 1) + 1) {
    if (all[at] == NULL) {
      joined *kept = world_new(sizeof *kept);
      *kept = *j;
      all[at] = kept;
    }
    if (all[at]->count == j->count &&
        memcmp(all[at]->token, j->token, j->count * sizeof *j->token) == 0)
      return at;
  }
  world_fail("too many contents");
}

static content single(uint64_t token) { return number_of(&(joined){.token = {token}, .count = 1}); }

content content_text(uint64_t number) { return single(number); }

content content_counter(uint64_t number) { return single(number | COUNTER); }

content content_join(content first, content second) {
  joined both = *all[first];
  if (both.count + all[second]->count > TOKENS)
    world_fail("a content has too many tokens");
  for (size_t i = 0; i < all[second]->count; i++)
    both.token[both.count++] = all[second]->token[i];
  return number_of(&both);
}

bool content_counts(content of, uint64_t *number) {
  const joined *j = all[of];
  *number = j->token[0] & ~COUNTER;
  return j->count == 1 && (j->token[0] & COUNTER) != 0;
}

/* The bytes of a token: a number, then letters that follow from it. The sign begins a token behind
 * another one. */
static size_t write_token(uint64_t token, char text[LETTERS]) {
  if ((token & COUNTER) != 0)
    return (size_t)sprintf(text, "%" PRIu64, token & ~COUNTER);
  int at = sprintf(text, "%s%" PRIu64 ":", world_is_wide() ? "#" : "", token);
  size_t letters = token % 7 == 0 ? 0 : token * 37 % 150;
  for (size_t i = 0; i < letters; i++)
    text[at++] = (char)('a' + (token + i * i) % 26);
  text[at] = '\0';
  return (size_t)at;
}

size_t content_write(content of, char *text, size_t room) {
  const joined *j = all[of];
  size_t filled = 0;
  char token[LETTERS];
  for (size_t i = 0; i < j->count; i++) {
    size_t bytes = write_token(j->token[i], token);
    if (filled + bytes >= room)
      return 0;
    memcpy(text + filled, token, bytes + 1);
    filled += bytes;
  }
  return filled;
}

content content_read(const char *text, size_t bytes) {
  joined j = {.count = 0};
  char token[LETTERS], *end;
  for (size_t at = 0; at < bytes;) {
    bool sign = text[at] == '#';
    uint64_t number = strtoull(text + at + sign, &end, 10);
    if (end == text + at + sign || j.count == TOKENS)
      return 0;
    number |= *end == ':' ? 0 : COUNTER;
    size_t length = write_token(number, token);
    if (length > bytes - at || memcmp(text + at, token, length) != 0)
      return 0;
    j.token[j.count++] = number;
    at += length;
  }
  return j.count == 0 ? 0 : number_of(&j);
}
