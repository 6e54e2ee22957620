/* stripe verify and stripe info: check shards without changing them. */
#include "commands.h"
#include "output.h"
#include "report.h"
#include "shardset.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int report_set(const shard_set *set, bool parity_ok) {
  unsigned intact = shard_set_intact(set);
  shard_set_say_bad(set);
  if (!parity_ok)
    say("%s: the parities do not match the data", set->header.name);
  else if (intact < set->header.k)
    say("%s: %u of %u shards intact, %" PRIu32 " needed: cannot be repaired", set->header.name,
        intact, set->shards, set->header.k);
  else if (intact < set->shards || set->stray_count > 0)
    say("%s: %u of %u shards intact: can be repaired", set->header.name, intact, set->shards);
  else
    say("%s: all %u shards are intact", set->header.name, set->shards);
  return parity_ok && intact == set->shards && set->stray_count == 0 ? STRIPE_OK : STRIPE_WRONG;
}

int command_verify(const options *opt) {
  shard_set *set = must_alloc(1, sizeof *set);
  bool parity_ok = true;
  int status = shard_set_open(set, opt->paths, opt->count);
  if (status == STRIPE_OK)
    status = shard_set_scan(set, opt->quiet, &parity_ok);
  if (status == STRIPE_OK)
    status = report_set(set, parity_ok);
  shard_set_close(set);
  free(set);
  return status;
}

static void say_header(const char *path, const shard_header *h) {
  char set_id[33], original[33], payload[33];
  shard_sum_text(&h->set_id, set_id);
  shard_sum_text(&h->original, original);
  shard_sum_text(&h->payload[h->index], payload);
  say("%s", path);
  say("  shard     %" PRIu32 " of %" PRIu32 " (%s)", h->index, h->k + h->m,
      h->index < h->k ? "data" : "parity");
  say("  code      %s, k = %" PRIu32 ", m = %" PRIu32 ", polynomial 0x%" PRIx32, h->code, h->k,
      h->m, h->polynomial);
  say("  block     %" PRIu32 " bytes, payload %" PRIu64 " bytes", h->block, shard_payload_bytes(h));
  say("  original  %s, %" PRIu64 " bytes", h->name, h->length);
  say("  set       %s", set_id);
  say("  XXH3-128  original %s, payload %s", original, payload);
}

static int info_file(const char *path) {
  uint8_t raw[SHARD_HEADER_BYTES];
  char why[SHARD_WHY_BYTES] = "";
  shard_header header;
  struct stat info;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0)
    return refuse("cannot open %s: %s", path, strerror(errno));
  bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  ssize_t n = regular ? read_at(fd, raw, sizeof raw, 0) : 0;
  int reason = errno;
  close(fd);
  if (!regular)
    return refuse("%s is not a regular file", path);
  if (n < 0)
    return refuse("cannot read %s: %s", path, strerror(reason));
  switch (shard_header_read(&header, raw, (size_t)n, why)) {
  case SHARD_GOOD:
    say_header(path, &header);
    return STRIPE_OK;
  case SHARD_BAD:
    say("%s: %s", path, why);
    return STRIPE_WRONG;
  case SHARD_FOREIGN:
    break;
  }
  return refuse("%s is not a shard file", path);
}

int command_info(const options *opt) {
  int worst = STRIPE_OK;
  for (size_t i = 0; i < opt->count; i++) {
    int status = info_file(opt->paths[i]);
    worst = status > worst ? status : worst;
  }
  return worst;
}
