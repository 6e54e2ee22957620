#include "policy.h"

#include <stdio.h>
#include <string.h>

#include "gfsmith_adaptive.h"

_Static_assert(GFS_WALKS <= 8, "three bits");
_Static_assert(GFSMITH_ADAPTIVE_DISTANCE_MAX < GFS_DISTANCE_ROW, "twelve bits, one value apart");

static const char *const names[GFS_WALKS] = {
    [GFS_WALK_DEFAULT] = "default",  [GFS_WALK_PLAIN] = "plain",
    [GFS_WALK_ROW] = "row",          [GFS_WALK_ROWS4] = "rows4",
    [GFS_WALK_BLOCK] = "block",      [GFS_WALK_BLOCK_SHUFFLED] = "block-shuffled",
    [GFS_WALK_SHUFFLED] = "shuffled"};

uint32_t gfs_policy_pack(gfs_policy policy) {
  return UINT32_C(1) << 31 | (policy.pages ? UINT32_C(1) << 28 : 0u) |
         (uint32_t)policy.first << 16 | (uint32_t)policy.distance << 4 |
         (policy.streaming ? 8u : 0u) | (uint32_t)policy.walk;
}

size_t gfs_policy_text(gfs_policy policy, char *text, size_t size) {
  char whole[GFS_POLICY_TEXT];
  int used = snprintf(whole, sizeof whole, "%s", names[policy.walk]);
  if (policy.walk >= GFS_WALK_PIPELINED && policy.distance != GFS_DISTANCE_ROW)
    used += snprintf(whole + used, sizeof whole - (size_t)used, ",d=%u", policy.distance);
  if (policy.first > 0)
    used += snprintf(whole + used, sizeof whole - (size_t)used, ",first=%u", policy.first);
  if (policy.streaming)
    used += snprintf(whole + used, sizeof whole - (size_t)used, ",nt");
  if (policy.pages)
    used += snprintf(whole + used, sizeof whole - (size_t)used, ",pages");
  if (size > 0)
    snprintf(text, size, "%s", whole);
  return (size_t)used;
}

/* The length of `word` if the text begins with it and the word ends there, else 0. */
static size_t begins(const char *text, const char *word) {
  size_t length = strlen(word);
  bool ends = strncmp(text, word, length) == 0 && (text[length] == '\0' || text[length] == ',');
  return ends ? length : 0;
}

/* Parse "NAME=NUMBER" with a number up to the longest distance; return the parsed length, or 0. */
static size_t number(const char *text, const char *name, unsigned *value) {
  size_t at = strlen(name), digits = at;
  if (strncmp(text, name, at) != 0)
    return 0;
  unsigned read = 0;
  for (; text[at] >= '0' && text[at] <= '9'; at++) {
    read = read * 10 + (unsigned)(text[at] - '0');
    if (read > GFSMITH_ADAPTIVE_DISTANCE_MAX)
      return 0;
  }
  *value = read;
  return at > digits && (text[at] == '\0' || text[at] == ',') ? at : 0;
}

/* Parse one option of a policy; each option may occur once. Return its length, 0 if there is
 * none. */
static size_t option(const char *text, gfs_policy *policy, unsigned *given) {
  enum { DISTANCE = 1, FIRST = 2, STREAMING = 4, PAGES = 8 };
  unsigned which = DISTANCE;
  size_t used = number(text, "d=", &policy->distance);
  if (used == 0) {
    which = FIRST;
    used = number(text, "first=", &policy->first);
  }
  if (used == 0) {
    which = STREAMING;
    used = begins(text, "nt");
    policy->streaming = policy->streaming || used > 0;
  }
  if (used == 0) {
    which = PAGES;
    used = begins(text, "pages");
    policy->pages = true;
  }
  bool again = (*given & which) != 0;
  *given |= which;
  return again ? 0 : used;
}

bool gfs_policy_read(const char *text, gfs_policy *policy) {
  gfs_policy read = {.walk = GFS_WALK_DEFAULT};
  size_t used = begins(text, names[read.walk]);
  while (used == 0 && ++read.walk < GFS_WALKS)
    used = begins(text, names[read.walk]);
  if (used == 0)
    return false;
  bool pipelined = read.walk >= GFS_WALK_PIPELINED;
  read.distance = pipelined ? GFS_DISTANCE_ROW : 0;
  unsigned given = 0;
  for (text += used; *text == ','; text += used) {
    text++;
    used = pipelined ? option(text, &read, &given) : 0;
    if (used == 0)
      return false;
  }
  if (read.pages && gfs_walk_shuffled(read.walk) == GFS_WALK_DEFAULT)
    return false;
  *policy = read;
  return true;
}
