#include "group.h"

#include "common/report.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

static const char behind[] = " behind", flushing[] = "flush\n";

files_written group_save(const group *g, const char *folder, unsigned shards) {
  char text[FILES_TEXT], hex[2 * GROUP_ID + 1];
  sodium_bin2hex(hex, sizeof hex, g->id, GROUP_ID);
  int at = snprintf(text, sizeof text, "stripe-store group 1\nid %s\nepoch %u\ncode %s\n", hex,
                    g->epoch, g->code);
  for (unsigned rank = 1; rank <= shards; rank++) {
    sodium_bin2hex(hex, sizeof hex, g->incarnation[rank], GROUP_ID);
    at += snprintf(text + at, sizeof text - (size_t)at, "node %u %s%s\n", rank, hex,
                   g->behind >> rank & 1 ? behind : "");
  }
  if (g->flushing)
    strcat(text, flushing);
  return files_write(folder, "group", text, 0600);
}

static bool binary(uint8_t *id, const char *hex) {
  size_t bytes;
  return sodium_hex2bin(id, GROUP_ID, hex, strlen(hex), NULL, &bytes, NULL) == 0 &&
         bytes == GROUP_ID;
}

static bool parse(group *g, const char *text, unsigned shards) {
  char hex[2 * GROUP_ID + 1];
  int at = 0;
  if (sscanf(text, "stripe-store group 1\nid %32s\nepoch %u\ncode %95[a-z0-9 ]\n%n", hex, &g->epoch,
             g->code, &at) != 3 ||
      at == 0 || !binary(g->id, hex))
    return false;
  for (unsigned rank = 1; rank <= shards; rank++) {
    unsigned named;
    int step = 0;
    if (sscanf(text + at, "node %u %32s%n", &named, hex, &step) != 2 || step == 0 ||
        named != rank || !binary(g->incarnation[rank], hex))
      return false;
    at += step;
    if (strncmp(text + at, behind, sizeof behind - 1) == 0) {
      g->behind |= UINT64_C(1) << rank;
      at += (int)sizeof behind - 1;
    }
    if (text[at++] != '\n')
      return false;
  }
  g->flushing = strcmp(text + at, flushing) == 0;
  return g->flushing || text[at] == '\0';
}

bool group_load(group *g, const char *folder, unsigned shards) {
  char text[FILES_TEXT];
  *g = (group){0};
  if (!files_read(folder, "group", text)) {
    if (errno != ENOENT)
      report("cannot read %s/group: %s", folder, strerror(errno));
    return errno == ENOENT;
  }
  g->formed = parse(g, text, shards);
  if (!g->formed)
    report("%s/group is damaged, or has another number of chunk servers than %u", folder, shards);
  return g->formed;
}
