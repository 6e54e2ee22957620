#include "shardset.h"

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

/* A file with an unreadable header, whose name may identify the shard. */
typedef struct pending {
  char *path;
  bool foreign; /* no magic */
  bool unopened;
  char why[SHARD_WHY_BYTES];
} pending;

typedef struct path_list {
  char **paths;
  size_t count;
} path_list;

static int is_shard_name(const struct dirent *entry) {
  size_t length = strlen(entry->d_name);
  return length > 4 && strcmp(entry->d_name + length - 4, ".gfs") == 0;
}

static void list_add(path_list *list, char *path) {
  list->paths = must_grow(list->paths, list->count + 1, sizeof *list->paths);
  list->paths[list->count++] = path;
}

static int list_folder(path_list *list, const char *folder) {
  struct dirent **entries;
  int n = scandir(folder, &entries, is_shard_name, alphasort);
  if (n < 0)
    return refuse("cannot read %s: %s", folder, strerror(errno));
  for (int i = 0; i < n; i++) {
    list_add(list, path_join(folder, entries[i]->d_name));
    free(entries[i]);
  }
  free(entries);
  return n > 0 ? STRIPE_OK : refuse("%s holds no shard files (*.gfs)", folder);
}

static int list_expand(path_list *list, char *const *paths, size_t count) {
  int status = STRIPE_OK;
  for (size_t i = 0; i < count && status == STRIPE_OK; i++) {
    struct stat info;
    if (stat(paths[i], &info) == 0 && S_ISDIR(info.st_mode)) {
      status = list_folder(list, paths[i]);
    } else {
      list_add(list, must_copy(paths[i]));
    }
  }
  return status;
}

static bool same_set(const shard_header *a, const shard_header *b) {
  uint8_t raw_a[SHARD_HEADER_BYTES], raw_b[SHARD_HEADER_BYTES];
  shard_header copy_a = *a, copy_b = *b;
  shard_header_write(&copy_a, raw_a);
  shard_header_write(&copy_b, raw_b);
  return memcmp(raw_a + SHARD_SHARED_BEGIN, raw_b + SHARD_SHARED_BEGIN,
                SHARD_SHARED_END - SHARD_SHARED_BEGIN) == 0;
}

static void check_length(shard_slot *slot, const shard_header *header, uint64_t actual) {
  uint64_t wanted = SHARD_HEADER_BYTES + shard_payload_bytes(header);
  slot->intact = actual == wanted;
  if (!slot->intact)
    snprintf(slot->why, sizeof slot->why, "%s: %" PRIu64 " bytes instead of %" PRIu64,
             actual < wanted ? "truncated" : "too long", actual, wanted);
}

/* Take over fd and path of a file with an intact header. */
static int place(shard_set *set, const shard_header *header, char *path, int fd,
                 const struct stat *info) {
  shard_slot *slot = &set->slots[header->index];
  int status = STRIPE_OK;
  if (set->first_path == NULL) {
    set->header = *header;
    set->first_path = must_copy(path);
    set->mode = info->st_mode;
    set->shards = header->k + header->m;
  } else if (!same_set(&set->header, header)) {
    status = refuse("%s belongs to another stripe set than %s", path, set->first_path);
  } else if (slot->given) {
    status = refuse("%s and %s are both shard %" PRIu32, slot->path, path, header->index);
  }
  if (status != STRIPE_OK) {
    close(fd);
    free(path);
    return status;
  }
  slot->path = path;
  slot->given = true;
  slot->fd = fd;
  check_length(slot, header, (uint64_t)info->st_size);
  return STRIPE_OK;
}

/* Open one file: into its slot, or into *later (the caller then keeps path). */
static int examine(shard_set *set, char *path, pending *later) {
  uint8_t raw[SHARD_HEADER_BYTES];
  shard_header header;
  struct stat info;
  memset(later, 0, sizeof *later);
  /* O_NONBLOCK: opening a FIFO must not block. */
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) {
    later->path = path;
    later->unopened = true;
    snprintf(later->why, sizeof later->why, "%s", strerror(errno));
    return STRIPE_OK;
  }
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    int status = refuse("%s is not a regular file", path);
    free(path);
    return status;
  }
  ssize_t n = read_at(fd, raw, sizeof raw, 0);
  shard_verdict verdict = SHARD_BAD;
  if (n < 0)
    snprintf(later->why, sizeof later->why, "cannot read it: %s", strerror(errno));
  else
    verdict = shard_header_read(&header, raw, (size_t)n, later->why);
  if (verdict == SHARD_GOOD)
    return place(set, &header, path, fd, &info);
  close(fd);
  later->path = path;
  later->foreign = verdict == SHARD_FOREIGN;
  if (later->foreign)
    snprintf(later->why, sizeof later->why, "the header is not that of a shard file");
  return STRIPE_OK;
}

static char *slot_name(const shard_set *set, unsigned index) {
  char name[SHARD_NAME_BYTES + 16];
  snprintf(name, sizeof name, "%s.%03u.gfs", set->header.name, index);
  char *folder = path_folder(set->first_path);
  char *path = path_join(folder, name);
  free(folder);
  return path;
}

/* The free slot whose standard file name the path ends with, or NULL. */
static shard_slot *slot_by_name(shard_set *set, const char *path) {
  const char *slash = strrchr(path, '/');
  const char *base = slash == NULL ? path : slash + 1;
  for (unsigned i = 0; i < set->shards; i++) {
    char name[SHARD_NAME_BYTES + 16];
    snprintf(name, sizeof name, "%s.%03u.gfs", set->header.name, i);
    if (!set->slots[i].given && strcmp(name, base) == 0)
      return &set->slots[i];
  }
  return NULL;
}

static int settle(shard_set *set, pending *file) {
  shard_slot *slot = slot_by_name(set, file->path);
  if (slot != NULL) {
    slot->path = file->path;
    slot->given = true;
    memcpy(slot->why, file->why, sizeof slot->why);
    file->path = NULL;
    return STRIPE_OK;
  }
  if (file->foreign)
    return refuse("%s is not a shard file", file->path);
  if (file->unopened)
    return refuse("cannot open %s: %s", file->path, file->why);
  set->strays = must_grow(set->strays, set->stray_count + 1, sizeof *set->strays);
  set->strays[set->stray_count].path = file->path;
  memcpy(set->strays[set->stray_count++].why, file->why, sizeof file->why);
  file->path = NULL;
  return STRIPE_OK;
}

static int refuse_headless(const pending *files, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (files[i].foreign)
      return refuse("%s is not a shard file", files[i].path);
    if (files[i].unopened)
      return refuse("cannot open %s: %s", files[i].path, files[i].why);
  }
  return refuse("no shard with an intact header; %s: %s", files[0].path, files[0].why);
}

static int sort_files(shard_set *set, path_list *list) {
  pending *files = must_alloc(list->count, sizeof *files);
  size_t count = 0;
  int status = STRIPE_OK;
  for (size_t i = 0; i < list->count && status == STRIPE_OK; i++) {
    char *path = list->paths[i];
    list->paths[i] = NULL;
    status = examine(set, path, &files[count]);
    count += files[count].path != NULL;
  }
  if (status == STRIPE_OK && set->first_path == NULL)
    status = refuse_headless(files, count);
  for (size_t i = 0; i < count && status == STRIPE_OK; i++)
    status = settle(set, &files[i]);
  for (size_t i = 0; i < count; i++)
    free(files[i].path);
  free(files);
  return status;
}

static int prepare(shard_set *set) {
  for (unsigned i = 0; i < set->shards; i++) {
    if (set->slots[i].given)
      continue;
    set->slots[i].path = slot_name(set, i);
    snprintf(set->slots[i].why, sizeof set->slots[i].why, "missing");
  }
  const shard_header *h = &set->header;
  set->memory = must_aligned((size_t)set->shards * h->block);
  return shard_codec(&set->codec, set->first_path, h->code, h->k, h->m);
}

int shard_set_open(shard_set *set, char *const *paths, size_t count) {
  path_list list = {NULL, 0};
  memset(set, 0, sizeof *set);
  for (size_t i = 0; i < SHARD_MAX_SHARDS; i++)
    set->slots[i].fd = -1;
  int status = list_expand(&list, paths, count);
  if (status == STRIPE_OK)
    status = sort_files(set, &list);
  for (size_t i = 0; i < list.count; i++)
    free(list.paths[i]);
  free(list.paths);
  return status == STRIPE_OK ? prepare(set) : status;
}

void shard_set_close(shard_set *set) {
  for (size_t i = 0; i < SHARD_MAX_SHARDS; i++) {
    if (set->slots[i].fd >= 0)
      close(set->slots[i].fd);
    free(set->slots[i].path);
  }
  for (size_t i = 0; i < set->stray_count; i++)
    free(set->strays[i].path);
  free(set->strays);
  free(set->first_path);
  free(set->memory);
  gfsmith_codec_destroy(set->codec);
}
