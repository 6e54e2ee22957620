#include "set.h"

#include "change.h"
#include "medium.h"
#include "names.h"
#include "output.h"
#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD_PREFIX = 32, TRAILER = 56 };

static int is_shard(const struct dirent *entry) { return shard_name_ends(entry->d_name); }

static void add(shard_set *set, char *path, bool listed) {
  set->files = must_grow(set->files, set->count + 1, sizeof *set->files);
  set->files[set->count++] = (shard_file){.path = path, .listed = listed, .fd = -1, .index = -1};
}

static bool is_of(const shard_incomplete *record, const gfsmith_shards_header *h, uid_t owner) {
  return record->owner == owner && gfsmith_shards_same_set(&record->header, h);
}

static bool is_announced(const shard_set *set, const gfsmith_shards_header *h, uid_t owner) {
  for (size_t i = 0; i < set->incomplete_count; i++)
    if (!set->incomplete[i].whole && is_of(&set->incomplete[i], h, owner))
      return true;
  return false;
}

static bool is_incomplete(const shard_set *set, const shard_file *file) {
  return is_announced(set, &file->header, file->info.st_uid);
}

/* Read the change record of a folder. This comes before the folder is listed: a set that becomes
 * complete meanwhile does not count yet. */
static int add_record(shard_set *set, const char *folder) {
  gfsmith_shards_header header;
  bool found;
  uid_t owner;
  int status = change_incomplete(folder, &header, &owner, &found);
  if (status != TOOL_OK || !found || is_announced(set, &header, owner))
    return status;
  set->incomplete = must_grow(set->incomplete, set->incomplete_count + 1, sizeof *set->incomplete);
  set->incomplete[set->incomplete_count++] =
      (shard_incomplete){.header = header, .owner = owner, .folder = must_copy(folder)};
  return TOOL_OK;
}

static int add_file(shard_set *set, const char *path) {
  char *folder = path_folder(path);
  int status = add_record(set, folder);
  free(folder);
  add(set, must_copy(path), false);
  return status;
}

static int add_folder(shard_set *set, const char *folder) {
  struct dirent **entries;
  int status = add_record(set, folder);
  if (status != TOOL_OK)
    return status;
  int n = scandir(folder, &entries, is_shard, alphasort);
  if (n < 0)
    return refuse("cannot read %s: %s", folder, strerror(errno));
  for (int i = 0; i < n; i++) {
    add(set, path_join(folder, entries[i]->d_name), true);
    free(entries[i]);
  }
  free(entries);
  return n > 0 ? TOOL_OK : refuse("%s holds no shard files (*.gfs)", folder);
}

int set_add(shard_set *set, char *const *paths, size_t count) {
  int status = TOOL_OK;
  for (size_t i = 0; i < count && status == TOOL_OK; i++) {
    struct stat info;
    if (stat(paths[i], &info) == 0 && S_ISDIR(info.st_mode))
      status = add_folder(set, paths[i]);
    else
      status = add_file(set, paths[i]);
  }
  return status;
}

/* Open a file and read its header. */
static int examine(shard_file *file) {
  file->fd = open_input(file->path);
  if (file->fd < 0) {
    file->error = errno;
    file->why = strerror(errno);
    stat(file->path, &file->info);
    return TOOL_OK;
  }
  if (fstat(file->fd, &file->info) != 0)
    return refuse("cannot read %s: %s", file->path, strerror(errno));
  if (!S_ISREG(file->info.st_mode))
    return refuse("%s is not a regular file", file->path);
  int valid = read_header(file->fd, &file->header, &file->why);
  if (valid < 0) {
    file->error = errno;
    file->why = strerror(file->error);
    if (medium_failed(file->error)) /* as a damaged header: the records may be intact */
      return TOOL_OK;
    close(file->fd);
    file->fd = -1;
  } else if (!valid) {
    file->foreign = strcmp(file->why, "not a shard") == 0;
  }
  return TOOL_OK;
}

/* The index of a file with a damaged header that has the name and the size of a shard of the other
 * file's set; -1: it has not. */
static int likely_index(const shard_file *damaged, const shard_file *file) {
  bool sized = damaged->fd >= 0 && damaged->info.st_size == file->info.st_size;
  return sized ? shard_name_index(path_last(damaged->path), &file->header) : -1;
}

/* Enough shards first, then the generation. */
static uint64_t rank(const shard_set *set, const shard_file *file) {
  size_t members = 0;
  for (size_t i = 0; i < set->count; i++) {
    const shard_file *other = &set->files[i];
    members += other->why == NULL ? gfsmith_shards_same_set(&other->header, &file->header)
                                  : likely_index(other, file) >= 0;
  }
  return file->header.generation + (members >= file->header.k ? GFSMITH_SHARDS_MAX_GENERATION : 0);
}

static int refuse_headless(const shard_set *set) {
  for (size_t i = 0; i < set->count; i++) {
    const shard_file *file = &set->files[i];
    if (file->foreign)
      return refuse("%s is not a shard file", file->path);
    if (file->fd < 0)
      return refuse("cannot open %s: %s", file->path, file->why);
  }
  if (set->incomplete_count > 0)
    return refuse("generation %" PRIu64 " of %s is incomplete (protect was interrupted or is "
                  "running), and there is no other one",
                  set->incomplete[0].header.generation, set->incomplete[0].header.name);
  return refuse("no shard with an intact header; %s: %s", set->files[0].path, set->files[0].why);
}

/* A shard with a damaged header counts by its name, also if it was cut. */
static bool is_whole(const shard_set *set, const shard_incomplete *record) {
  bool present[GFSMITH_MAX_SHARDS] = {false};
  unsigned missing = record->header.k + record->header.m;
  for (size_t i = 0; i < set->count; i++) {
    const shard_file *file = &set->files[i];
    bool valid = file->why == NULL && is_of(record, &file->header, file->info.st_uid);
    bool damaged = file->why != NULL && file->info.st_size > 0;
    int index = valid     ? (int)file->header.index
                : damaged ? shard_name_index(path_last(file->path), &record->header)
                          : -1;
    if (index < 0 || file->info.st_uid != record->owner)
      continue;
    missing -= !present[index];
    present[index] = true;
  }
  return missing == 0;
}

/* A set with all its shards counts: their bytes were complete before the first one got its name. In
 * a copy of a folder, the record of a run that has ended since then may have stayed. */
static void find_whole(shard_set *set) {
  for (size_t n = 0; n < set->incomplete_count; n++)
    set->incomplete[n].whole = is_whole(set, &set->incomplete[n]);
}

static int choose(shard_set *set) {
  uint64_t best = 0;
  find_whole(set);
  for (size_t i = 0; i < set->count; i++) {
    const shard_file *file = &set->files[i];
    bool counts = file->why == NULL && !is_incomplete(set, file);
    uint64_t own = counts ? rank(set, file) : 0;
    if (own <= best)
      continue;
    best = own;
    set->first = file;
  }
  if (set->first == NULL)
    return refuse_headless(set);
  set->header = set->first->header;
  set->header.index = 0;
  set->shards = set->header.k + set->header.m;
  return TOOL_OK;
}

/* In a folder such as /tmp, users may add files, but not replace those of others. */
static bool is_shared(const char *path) {
  struct stat info;
  char *folder = path_folder(path);
  bool known = stat(folder, &info) == 0;
  free(folder);
  return known && (info.st_mode & S_ISVTX) && (info.st_mode & (S_IWGRP | S_IWOTH));
}

/* There, a generation of one user must not replace that of another one. */
static int check_owners(const shard_set *set) {
  for (size_t i = 0; i < set->count; i++) {
    const shard_file *file = &set->files[i];
    bool version = file->why == NULL && !is_incomplete(set, file) &&
                   strcmp(file->header.name, set->header.name) == 0 &&
                   file->header.generation != set->header.generation;
    if (version && file->info.st_uid != set->first->info.st_uid && is_shared(file->path))
      return refuse("%s and %s are generations of different users: name the shards of one",
                    set->first->path, file->path);
  }
  return TOOL_OK;
}

static void take(shard_set *set, shard_file *file, unsigned index) {
  file->index = (int)index;
  set->given[index] = file;
}

/* A folder may hold shards of several originals: the message names those of the first. */
static int refuse_other(const shard_set *set, const shard_file *file) {
  const char *first = set->first->path;
  if (strcmp(file->header.name, set->header.name) == 0)
    return refuse("%s belongs to another set than %s: name the shards of one set", file->path,
                  first);
  int folder = (int)(strrchr(first, '/') == NULL ? 0 : strrchr(first, '/') - first + 1);
  return refuse("%s belongs to another original than %s: name the shards of one, such as "
                "%.*s%s.g*.gfs",
                file->path, first, folder, first, set->header.name);
}

/* A file with a valid header. */
static int settle_valid(shard_set *set, shard_file *file) {
  const gfsmith_shards_header *h = &file->header;
  if (gfsmith_shards_same_set(h, &set->header)) {
    const shard_file *twin = set->given[h->index];
    if (twin != NULL)
      return refuse("%s and %s are both shard %" PRIu32, twin->path, file->path, h->index);
    take(set, file, h->index);
    return TOOL_OK;
  }
  bool other = strcmp(h->name, set->header.name) != 0 || h->generation == set->header.generation;
  if (other && !is_incomplete(set, file))
    return refuse_other(set, file);
  file->leftover = true;
  return TOOL_OK;
}

/* A file without a valid header: its name may identify the shard. */
static int settle_damaged(shard_set *set, shard_file *file) {
  uint64_t generation;
  unsigned index;
  if (shard_name_parse(path_last(file->path), set->header.name, &generation, &index)) {
    file->leftover = generation != set->header.generation;
    if (!file->leftover && index < set->shards && set->given[index] == NULL)
      take(set, file, index);
    if (file->leftover || file->index >= 0)
      return TOOL_OK;
  }
  if (file->foreign)
    return refuse("%s is not a shard file", file->path);
  return file->fd < 0 ? refuse("cannot open %s: %s", file->path, file->why) : TOOL_OK;
}

static int settle(shard_set *set) {
  int status = TOOL_OK;
  for (size_t i = 0; i < set->count && status == TOOL_OK; i++)
    if (set->files[i].why == NULL)
      status = settle_valid(set, &set->files[i]);
  for (size_t i = 0; i < set->count && status == TOOL_OK; i++)
    if (set->files[i].why != NULL)
      status = settle_damaged(set, &set->files[i]);
  for (size_t i = 0; i < set->count; i++)
    set->leftovers += set->files[i].leftover;
  return status;
}

/* Zeros instead of bytes that the device cannot read: these blocks are damaged, but not the others
 * of the shard. */
static ptrdiff_t fill_gap(shard_file *file, void *to, size_t size) {
  uint64_t whole = (uint64_t)file->info.st_size, end = file->behind < whole ? file->behind : whole;
  uint64_t left = end > file->at ? end - file->at : 0;
  size_t n = left < size ? (size_t)left : size;
  memset(to, 0, n);
  file->at += n;
  return (ptrdiff_t)n;
}

static ptrdiff_t read_file(void *context, void *to, size_t size) {
  shard_file *file = context;
  if (file->at < file->behind)
    return fill_gap(file, to, size);
  ssize_t n = read_part(file->fd, to, size, file->at);
  if (n >= 0) {
    file->failures = 0;
    file->at += (uint64_t)n;
    return n;
  }
  file->error = errno;
  if (!medium_failed(file->error))
    return -1;
  file->behind = medium_behind(file->at, &file->failures);
  return fill_gap(file, to, size);
}

static bool skip_file(void *context, uint64_t size) {
  shard_file *file = context;
  file->at += size;
  return true;
}

static void make_sources(shard_set *set) {
  char *folder = path_folder(set->first->path);
  for (unsigned i = 0; i < set->shards; i++) {
    shard_file *file = set->given[i];
    if (file == NULL) {
      char name[SHARD_NAME];
      shard_name(name, set->header.name, set->header.generation, i);
      set->missing[i] = path_join(folder, name);
    } else if (file->fd >= 0) {
      set->sources[set->source_count++] =
          (gfsmith_shards_source){read_file, skip_file, file, file->index};
    }
  }
  free(folder);
}

static bool is_same_list(const shard_set *a, const shard_set *b) {
  bool same = a->count == b->count && a->incomplete_count == b->incomplete_count;
  for (size_t i = 0; same && i < a->count; i++)
    same = strcmp(a->files[i].path, b->files[i].path) == 0;
  for (size_t i = 0; same && i < a->incomplete_count; i++)
    same = is_announced(a, &b->incomplete[i].header, b->incomplete[i].owner);
  return same;
}

/* Add the files. A run may publish a generation meanwhile, so the folders are listed until two
 * lists are equal. */
static int add_settled(shard_set *set, char *const *paths, size_t count) {
  bool same = false;
  int status = set_add(set, paths, count);
  while (status == TOOL_OK && !same) {
    shard_set before = *set;
    *set = (shard_set){0};
    status = report_interrupted() ? TOOL_REFUSED : set_add(set, paths, count);
    same = is_same_list(&before, set);
    set_close(&before);
  }
  return status;
}

static bool lacks_listed(const shard_set *set) {
  for (size_t i = 0; i < set->count; i++)
    if (set->files[i].listed && set->files[i].error == ENOENT)
      return true;
  return false;
}

/* Has a run removed an old generation between the list of its files and their opening? A damaged
 * file system may list names without a file: the list is the same then. */
static int check_list(const shard_set *set, char *const *paths, size_t count, bool *outdated) {
  shard_set now = {0};
  int status = TOOL_OK;
  *outdated = false;
  if (lacks_listed(set)) {
    status = add_settled(&now, paths, count);
    *outdated = !is_same_list(set, &now);
  }
  set_close(&now);
  return status;
}

int set_open(shard_set *set, char *const *paths, size_t count) {
  bool outdated = false;
  int status;
  do {
    set_close(set);
    *set = (shard_set){0};
    status = add_settled(set, paths, count);
    for (size_t i = 0; i < set->count && status == TOOL_OK; i++)
      status = examine(&set->files[i]);
    if (status == TOOL_OK)
      status = check_list(set, paths, count, &outdated);
  } while (status == TOOL_OK && outdated);
  if (status == TOOL_OK)
    status = choose(set);
  if (status == TOOL_OK)
    status = check_owners(set);
  if (status == TOOL_OK)
    status = settle(set);
  if (status == TOOL_OK)
    make_sources(set);
  return status;
}

void set_rewind(shard_set *set) {
  for (size_t i = 0; i < set->count; i++)
    set->files[i].at = set->files[i].behind = set->files[i].failures = 0;
}

void set_close(shard_set *set) {
  for (size_t i = 0; i < set->count; i++) {
    if (set->files[i].fd >= 0)
      close(set->files[i].fd);
    free(set->files[i].path);
  }
  for (unsigned i = 0; i < GFSMITH_MAX_SHARDS; i++)
    free(set->missing[i]);
  free(set->files);
  for (size_t i = 0; i < set->incomplete_count; i++)
    free(set->incomplete[i].folder);
  free(set->incomplete);
}

const char *set_path(const shard_set *set, unsigned index) {
  return set->given[index] != NULL ? set->given[index]->path : set->missing[index];
}

uint64_t set_length(const shard_set *set) {
  const uint64_t record = RECORD_PREFIX + set->header.block;
  uint64_t size = (uint64_t)set->first->info.st_size,
           stripes = (size - GFSMITH_SHARDS_HEADER) / record;
  return (size - GFSMITH_SHARDS_HEADER - stripes * RECORD_PREFIX) * set->header.k;
}

/* A block of zeros that the device cannot read has the right bytes. */
bool set_intact(const shard_set *set, unsigned index) {
  const shard_file *file = set->given[index];
  return gfsmith_shards_intact(&set->report.shard[index]) && (file == NULL || file->error == 0);
}

unsigned set_count_intact(const shard_set *set) {
  unsigned intact = 0;
  for (unsigned i = 0; i < set->shards; i++)
    intact += set_intact(set, i);
  return intact;
}

bool set_stray(const shard_file *file) { return file->index < 0 && !file->leftover; }

unsigned set_strays(const shard_set *set) {
  unsigned strays = 0;
  for (size_t i = 0; i < set->count; i++)
    strays += set_stray(&set->files[i]);
  return strays;
}

/* The length of every shard file, by the trailer. */
static uint64_t whole_size(const shard_set *set) {
  const gfsmith_shards_header *h = &set->header;
  uint64_t span = (uint64_t)h->k * h->block, length = set->report.length;
  uint64_t payload = length / span * h->block + (length % span + h->k - 1) / h->k;
  return GFSMITH_SHARDS_HEADER + set->report.stripes * RECORD_PREFIX + payload + TRAILER;
}

void set_why(const shard_set *set, unsigned index, char *text, size_t size) {
  const gfsmith_shards_state *state = &set->report.shard[index];
  const shard_file *file = set->given[index];
  uint64_t whole = whole_size(set), own = file != NULL ? (uint64_t)file->info.st_size : 0;
  if (file == NULL)
    snprintf(text, size, "missing");
  else if (file->error != 0)
    snprintf(text, size, "%s%s", file->fd < 0 ? "" : "cannot read it: ", strerror(file->error));
  else if (own != whole && set->report.length > 0)
    snprintf(text, size, "%s: %" PRIu64 " bytes instead of %" PRIu64,
             own < whole ? "truncated" : "too long", own, whole);
  else if (state->header_damaged)
    snprintf(text, size, "%s", file->foreign ? "the header is not that of a shard" : file->why);
  else if (state->bad_blocks > 0)
    snprintf(text, size, "%" PRIu64 " of %" PRIu64 " blocks damaged", state->bad_blocks,
             set->report.stripes);
  else
    snprintf(text, size, "%s", state->too_long ? "too long" : "the trailer is damaged");
}

void set_say_bad(const shard_set *set) {
  char why[256];
  for (unsigned i = 0; i < set->shards; i++) {
    if (set_intact(set, i))
      continue;
    set_why(set, i, why, sizeof why);
    say("%s: %s", set_path(set, i), why);
  }
  for (size_t i = 0; i < set->count; i++)
    if (set_stray(&set->files[i]))
      say("%s: %s", set->files[i].path, set->files[i].why);
  set_say_others(set);
}

void set_say_incomplete(const shard_set *set) {
  for (size_t i = 0; i < set->incomplete_count; i++)
    if (!set->incomplete[i].whole)
      say("%s: generation %" PRIu64 " is incomplete and does not count: protect was interrupted "
          "or is running",
          set->incomplete[i].header.name, set->incomplete[i].header.generation);
}

void set_say_others(const shard_set *set) {
  set_say_incomplete(set);
  if (set->leftovers > 0)
    say("%s: %u files of other generations than %" PRIu64 " are left over", set->header.name,
        set->leftovers, set->header.generation);
}

int set_refuse(const shard_set *set, int status) {
  const gfsmith_shards_header *h = &set->header;
  if (report_interrupted())
    return TOOL_REFUSED;
  if (status == GFSMITH_ETOOMANY || status == GFSMITH_ESINGULAR)
    return refuse("%s: too many damaged or missing shards: a stripe has fewer good blocks than "
                  "%s with k = %" PRIu32 ", m = %" PRIu32 " needs",
                  h->name, h->code, h->k, h->m);
  if (status == GFSMITH_EINVAL) /* the header is valid: the name is unknown */
    return refuse("%s: unknown code \"%s\"", set->first->path, h->code);
  if (status == GFSMITH_SHARDS_EMIXED || status == GFSMITH_SHARDS_EFORMAT)
    return refuse("%s: a shard changed while it was read", h->name);
  return refuse("%s: code %s with k = %" PRIu32 ", m = %" PRIu32 ": %s", set->first->path, h->code,
                h->k, h->m, gfsmith_shards_strerror(status));
}
