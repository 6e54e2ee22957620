/* gfsmith-shards verify and info: check shards without changing them. */
#include "commands.h"
#include "json.h"
#include "medium.h"
#include "output.h"
#include "report.h"
#include "scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One word for the state of a set. */
static const char *result_of(const shard_set *set, int status) {
  const gfsmith_shards_report *report = &set->report;
  if (status != GFSMITH_OK || report->lost_stripes > 0)
    return "lost";
  if (report->false_stripes > 0)
    return "inconsistent";
  return set_count_intact(set) == set->shards && set_strays(set) == 0 ? "intact" : "repairable";
}

static void say_result(const shard_set *set, const char *result) {
  const gfsmith_shards_report *report = &set->report;
  const char *name = set->header.name;
  unsigned intact = set_count_intact(set);
  if (strcmp(result, "inconsistent") == 0)
    say("%s: the parities do not match the data in %" PRIu64 " stripes", name,
        report->false_stripes);
  else if (strcmp(result, "intact") == 0)
    say("%s: all %u shards are intact", name, set->shards);
  else if (strcmp(result, "repairable") == 0)
    say("%s: %u of %u shards intact: can be repaired", name, intact, set->shards);
  else if (report->lost_stripes > 0)
    say("%s: %u of %u shards intact, %" PRIu64 " of %" PRIu64
        " stripes are lost: cannot be repaired",
        name, intact, set->shards, report->lost_stripes, report->stripes);
  else
    say("%s: %u of %u shards intact, the end of the original is unknown or its checksum does not "
        "match: cannot be repaired",
        name, intact, set->shards);
}

/* A limit of this run is no damage. */
static int check_resources(const shard_set *set) {
  for (unsigned i = 0; i < set->shards; i++) {
    int error = set->given[i] != NULL ? set->given[i]->error : 0;
    if (error == EMFILE || error == ENFILE || error == ENOMEM)
      return refuse("cannot read %s: %s; it may be intact", set_path(set, i), strerror(error));
  }
  return TOOL_OK;
}

int command_verify(const options *opt) {
  shard_set *set = must_alloc(1, sizeof *set);
  int found = GFSMITH_OK;
  int status = set_open(set, opt->paths, opt->count);
  if (status == TOOL_OK)
    status = scan(set, opt, &found);
  if (status == TOOL_OK)
    status = check_resources(set);
  if (status == TOOL_OK) {
    const char *result = result_of(set, found);
    set_say_bad(set);
    say_result(set, result);
    if (opt->json)
      json_set("verify", result, set);
    status = strcmp(result, "intact") == 0 ? TOOL_OK : TOOL_WRONG;
  }
  set_close(set);
  free(set);
  return status;
}

static void say_header(const char *path, const gfsmith_shards_header *h) {
  char set_id[33], groups[32] = "";
  for (int i = 0; i < 16; i++)
    snprintf(set_id + (size_t)(2 * i), 3, "%02x", h->set_id[i]);
  if (h->l > 0)
    snprintf(groups, sizeof groups, ", l = %" PRIu32, h->l);
  say("%s", path);
  say("  shard       %" PRIu32 " of %" PRIu32 " (%s)", h->index, h->k + h->m,
      h->index < h->k ? "data" : "parity");
  say("  code        %s, k = %" PRIu32 ", m = %" PRIu32 "%s", h->code, h->k, h->m, groups);
  say("  block       %" PRIu32 " bytes", h->block);
  say("  original    %s (%s)", h->name, h->content == GFSMITH_SHARDS_TAR ? "folder" : "bytes");
  say("  generation  %" PRIu64 ", set %s", h->generation, set_id);
}

static int info_file(const char *path) {
  uint8_t raw[GFSMITH_SHARDS_HEADER];
  const char *why;
  gfsmith_shards_header header;
  struct stat info;
  int fd = open_input(path);
  if (fd < 0)
    return refuse("cannot open %s: %s", path, strerror(errno));
  bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  ssize_t n = regular ? read_at(fd, raw, sizeof raw, 0) : 0;
  int reason = errno;
  close(fd);
  if (!regular)
    return refuse("%s is not a regular file", path);
  if (n < 0 && !medium_failed(reason))
    return refuse("cannot read %s: %s", path, strerror(reason));
  if (n < 0) {
    say("%s: %s", path, strerror(reason));
    return TOOL_WRONG;
  }
  if (gfsmith_shards_header_read(&header, raw, (size_t)n, &why) == GFSMITH_OK) {
    say_header(path, &header);
    return TOOL_OK;
  }
  if (strcmp(why, "not a shard") == 0)
    return refuse("%s is not a shard file", path);
  say("%s: %s", path, why);
  return TOOL_WRONG;
}

int command_info(const options *opt) {
  shard_set *set = must_alloc(1, sizeof *set);
  int worst = set_add(set, opt->paths, opt->count);
  for (size_t i = 0; i < set->count && worst != TOOL_REFUSED; i++) {
    int status = info_file(set->files[i].path);
    worst = status > worst ? status : worst;
  }
  set_say_incomplete(set);
  set_close(set);
  free(set);
  return worst;
}
