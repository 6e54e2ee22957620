#include "names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void shard_name(char text[SHARD_NAME], const char *name, uint64_t generation, unsigned index) {
  snprintf(text, SHARD_NAME, "%s.g%" PRIu64 ".%03u.gfs", name, generation, index);
}

bool shard_name_ends(const char *file) {
  size_t length = strlen(file);
  return length > 4 && strcmp(file + length - 4, ".gfs") == 0;
}

bool shard_name_parse(const char *file, const char *name, uint64_t *generation, unsigned *index) {
  size_t length = strlen(name);
  char *end;
  if (strncmp(file, name, length) != 0 || strncmp(file + length, ".g", 2) != 0)
    return false;
  *generation = strtoull(file + length + 2, &end, 10);
  if (*end != '.' || *generation < 1 || *generation > GFSMITH_SHARDS_MAX_GENERATION)
    return false;
  *index = (unsigned)strtoul(end + 1, NULL, 10);
  if (*index >= GFSMITH_MAX_SHARDS)
    return false;
  char again[SHARD_NAME];
  shard_name(again, name, *generation, *index);
  return strcmp(again, file) == 0;
}

int shard_name_index(const char *file, const gfsmith_shards_header *set) {
  uint64_t generation;
  unsigned index;
  bool named = shard_name_parse(file, set->name, &generation, &index) &&
               generation == set->generation && index < set->k + set->m;
  return named ? (int)index : -1;
}
