#include "par2_sources.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "change.h"
#include "output.h"
#include "par2_hash.h"
#include "report.h"

enum { DEFAULT_BLOCKS = 2000 };

/* The resolved path of the folder, which all files must be below. */
typedef struct gathering {
  par2_set *set;
  char *root;
} gathering;

/* named: by the user, not found in a folder. */
static int add_path(gathering *to, const char *path, bool named);

static int add_folder(gathering *to, const char *path) {
  struct dirent **entries;
  int status = TOOL_OK, count = scandir(path, &entries, NULL, alphasort);
  if (count < 0)
    return refuse("cannot read %s: %s", path, strerror(errno));
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    if (status == TOOL_OK && (is_temporary(name) || strcmp(name, CHANGE_RECORD) == 0)) {
      say("%s/%s: left out, because it is a temporary file", path, name);
    } else if (status == TOOL_OK && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
      char *inner = path_join(path, name);
      status = add_path(to, inner, false);
      free(inner);
    }
    free(entries[i]);
  }
  free(entries);
  return status;
}

/* Add a file by its resolved path, without the root. */
static int add_file(gathering *to, const char *path) {
  par2_set *set = to->set;
  char *resolved = realpath(path, NULL);
  if (resolved == NULL)
    return refuse("cannot open %s: %s", path, strerror(errno));
  size_t length = strlen(to->root);
  int status = TOOL_OK;
  if (strncmp(resolved, to->root, length) != 0 || (length > 1 && resolved[length] != '/')) {
    status = refuse("%s is not below %s, the folder of the PAR2 files", path, set->folder);
  } else {
    set->files = must_grow(set->files, set->file_count + 1, sizeof *set->files);
    set->files[set->file_count++] =
        (par2_file){.name = must_copy(resolved + length + (length > 1))};
  }
  free(resolved);
  return status;
}

static int add_path(gathering *to, const char *path, bool named) {
  struct stat info;
  if (lstat(path, &info) != 0)
    return refuse("cannot open %s: %s", path, strerror(errno));
  if (S_ISLNK(info.st_mode))
    return refuse("%s is a symbolic link", path);
  if (S_ISDIR(info.st_mode))
    return add_folder(to, path);
  if (S_ISREG(info.st_mode) && !named && par2_is_volume(path)) {
    say("%s: left out, because it is a PAR2 file", path);
    return TOOL_OK;
  }
  return S_ISREG(info.st_mode) ? add_file(to, path) : refuse("%s is not a regular file", path);
}

static int compare_names(const void *a, const void *b) {
  return strcmp(((const par2_file *)a)->name, ((const par2_file *)b)->name);
}

/* Ids are little-endian numbers. */
static int compare_ids(const void *a, const void *b) {
  const par2_file *x = a, *y = b;
  for (size_t i = PAR2_ID; i-- > 0;)
    if (x->id[i] != y->id[i])
      return x->id[i] < y->id[i] ? -1 : 1;
  return 0;
}

/* Gather the files, each once. */
static int gather(par2_set *set, char *const *paths, size_t count) {
  gathering to = {set, realpath(set->folder, NULL)};
  int status = TOOL_OK;
  size_t kept = 0;
  if (to.root == NULL)
    return refuse("cannot open %s: %s", set->folder, strerror(errno));
  for (size_t i = 0; i < count && status == TOOL_OK; i++)
    status = add_path(&to, paths[i], true);
  free(to.root);
  if (set->file_count > 0)
    qsort(set->files, set->file_count, sizeof *set->files, compare_names);
  for (size_t i = 0; i < set->file_count; i++)
    if (kept > 0 && strcmp(set->files[kept - 1].name, set->files[i].name) == 0)
      free(set->files[i].name);
    else
      set->files[kept++] = set->files[i];
  set->file_count = kept;
  return status;
}

/* par2 of Debian cannot repair a set with an empty file, so it is left out. */
static void leave_out_empty(par2_set *set) {
  size_t kept = 0;
  for (size_t f = 0; f < set->file_count; f++) {
    if (set->files[f].length > 0) {
      set->files[kept++] = set->files[f];
      continue;
    }
    say("%s: left out, because it is empty", set->files[f].name);
    free(set->files[f].name);
  }
  set->file_count = kept;
}

/* The state of an open file, without its number (st_ino): FAT and most file systems in user space
 * give another one to a file that is opened again after the system has needed its memory. A file
 * that replaces another one has other times, too. */
static int state_without_number(int fd, struct stat *info) {
  int failed = file_state(fd, info);
  info->st_ino = 0;
  return failed;
}

/* The state and length of a file, and the MD5 of its first bytes. */
static int read_head(par2_set *set, par2_file *file) {
  md5 sum;
  int fd = par2_open_below(set->folder, file->name, O_RDONLY);
  if (fd < 0 || state_without_number(fd, &file->info) != 0)
    return refuse("cannot open %s: %s", file->name, strerror(errno));
  file->length = (uint64_t)file->info.st_size;
  md5_begin(&sum);
  bool whole = par2_hash_range(fd, 0, file->length < PAR2_HEAD ? file->length : PAR2_HEAD, &sum);
  int reason = par2_read_error();
  md5_end(&sum, file->head);
  close(fd);
  if (!whole)
    return refuse("cannot read %s: %s", file->name, par2_reason(reason));
  par2_file_id(file->id, file->head, file->length, file->name);
  return TOOL_OK;
}

static uint64_t count_blocks(const par2_set *set, uint64_t block) {
  uint64_t count = 0;
  for (size_t f = 0; f < set->file_count; f++)
    count += par2_blocks_of(set->files[f].length, block);
  return count;
}

/* The least block size, a multiple of 4, with at most `most` blocks. */
static uint64_t block_for(const par2_set *set, uint64_t most) {
  uint64_t low = 0, high = 1; /* units of 4 bytes: too small, large enough */
  while (count_blocks(set, 4 * high) > most)
    high *= 2;
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    if (count_blocks(set, 4 * middle) > most)
      low = middle;
    else
      high = middle;
  }
  return 4 * high;
}

static int choose_block(par2_set *set, const options *opt) {
  uint64_t files = set->file_count;
  uint64_t most = opt->blocks != 0 ? opt->blocks : files > DEFAULT_BLOCKS ? files : DEFAULT_BLOCKS;
  if (files == 0)
    return refuse("%s: no file has a byte to protect", set->name);
  if (files > most || files > PAR2_MOST_BLOCKS)
    return refuse("%s: %llu files need as many blocks; allowed: at most %llu", set->name,
                  (unsigned long long)files,
                  (unsigned long long)(most < PAR2_MOST_BLOCKS ? most : PAR2_MOST_BLOCKS));
  set->block = opt->block != 0 ? opt->block : block_for(set, most);
  if (set->block > PAR2_MOST_BLOCK)
    return refuse("%s: blocks of %llu bytes are larger than 4 GiB: --blocks N allows more blocks",
                  set->name, (unsigned long long)set->block);
  if (count_blocks(set, set->block) > PAR2_MOST_BLOCKS)
    return refuse("%s: blocks of %llu bytes are more than %d", set->name,
                  (unsigned long long)set->block, PAR2_MOST_BLOCKS);
  return TOOL_OK;
}

static void number_blocks(par2_set *set) {
  qsort(set->files, set->file_count, sizeof *set->files, compare_ids);
  for (size_t f = 0; f < set->file_count; f++) {
    par2_file *file = &set->files[f];
    file->first = set->blocks;
    file->count = (size_t)par2_blocks_of(file->length, set->block);
    file->blocks = must_alloc(file->count, sizeof *file->blocks);
    set->blocks += file->count;
  }
}

/* The state of a file, by its name below the folder. */
static int look_at(const par2_set *set, size_t file, struct stat *info) {
  int fd = par2_open_below(set->folder, set->files[file].name, O_RDONLY);
  int failed = fd < 0 ? -1 : state_without_number(fd, info);
  int reason = errno;
  if (fd >= 0)
    close(fd);
  return failed ? refuse("cannot open %s: %s", set->files[file].name, strerror(reason)) : TOOL_OK;
}

int par2_sources(par2_set *set, const char *name, char *const *paths, size_t count,
                 const options *opt) {
  int status = par2_set_name(set, name);
  if (status == TOOL_OK)
    status = gather(set, paths, count);
  for (size_t f = 0; f < set->file_count && status == TOOL_OK; f++)
    status = read_head(set, &set->files[f]);
  if (status != TOOL_OK)
    return status;
  leave_out_empty(set);
  status = choose_block(set, opt);
  if (status == TOOL_OK)
    number_blocks(set);
  return status;
}

int par2_sources_unchanged(const par2_set *set) {
  for (size_t f = 0; f < set->file_count; f++) {
    struct stat now;
    int status = look_at(set, f, &now);
    if (status != TOOL_OK)
      return status;
    if (!file_unchanged(&set->files[f].info, &now))
      return refuse("%s changed while it was read", set->files[f].name);
  }
  return TOOL_OK;
}
