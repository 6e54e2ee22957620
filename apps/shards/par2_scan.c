#include "par2_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "medium.h"
#include "output.h"
#include "par2_hash.h"
#include "par2_search.h"
#include "report.h"

enum { BATCH = 256 }; /* blocks that tasks hash at a time */

size_t par2_file_of(const par2_set *set, size_t block) {
  size_t low = 0, high = set->file_count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (set->files[middle].first <= block) /* SIZE_MAX for those without blocks at the end */
      low = middle;
    else
      high = middle;
  }
  return low;
}

uint64_t par2_length_of(const par2_set *set, size_t file, size_t block) {
  uint64_t start = (uint64_t)(block - set->files[file].first) * set->block;
  uint64_t left = set->files[file].length - start;
  return left < set->block ? left : set->block;
}

const char *par2_source_name(const par2_found *found, size_t source) {
  size_t files = found->set->file_count;
  return source < files ? found->set->files[source].name : found->extra[source - files];
}

int par2_open_source(const par2_found *found, size_t source) {
  const char *name = par2_source_name(found, source);
  if (source < found->set->file_count)
    return par2_open_below(found->set->folder, name, O_RDONLY);
  return open_input(name);
}

/* A file that is read. */
typedef struct scanned {
  par2_found *found;
  size_t source;
  int fd;
  uint64_t size;
  md5 sum;             /* of the file */
  size_t first, count; /* blocks of the file that are hashed now */
  bool good[BATCH];    /* are they at their places? */
  int error;           /* errno if the device cannot open it */
} scanned;

static void mark(void *context, size_t block, uint64_t start) {
  const scanned *file = context;
  const par2_set *set = file->found->set;
  par2_place *place = &file->found->places[block];
  if (place->source != SIZE_MAX)
    return;
  uint64_t length = par2_length_of(set, par2_file_of(set, block), block);
  uint64_t left = file->size - start;
  *place = (par2_place){file->source, start, left < length ? left : length};
}

static const par2_file *file_of(const scanned *file) {
  return &file->found->set->files[file->source];
}

/* Task 0 continues the MD5 of the file by the blocks of the batch; task i + 1 hashes block i,
 * unless it is the short one at the end. */
static void hash_task(void *context, unsigned task) {
  scanned *file = context;
  const par2_set *set = file->found->set;
  const par2_file *of = file_of(file);
  uint64_t start = file->first * set->block, end = start + file->count * set->block;
  if (task == 0) {
    if (file->size == of->length)
      par2_hash_range(file->fd, start, end < file->size ? end : file->size, &file->sum);
    return;
  }
  size_t n = file->first + task - 1;
  uint64_t length = par2_length_of(set, file->source, of->first + n);
  par2_checksums sums;
  file->good[task - 1] =
      of->blocks != NULL && length == set->block && n * set->block + length <= file->size &&
      par2_hash_block(file->fd, n * set->block, length, set->block, &sums) &&
      sums.crc == of->blocks[n].crc && memcmp(sums.md5, of->blocks[n].md5, MD5_BYTES) == 0;
}

/* Find the blocks that are at their places. Returns whether the file has its MD5. */
static bool scan_in_place(scanned *file, const control *call, progress *bar, uint64_t *done) {
  uint8_t digest[MD5_BYTES];
  const par2_set *set = file->found->set;
  const par2_file *of = file_of(file);
  uint64_t blocks = file->size == of->length ? par2_blocks_of(of->length, set->block) : of->count;
  md5_begin(&file->sum);
  for (file->first = 0; file->first < blocks; file->first += file->count) {
    bool known = of->first != SIZE_MAX;
    uint64_t left = blocks - file->first;
    file->count = left < BATCH ? (size_t)left : BATCH;
    control_run(call, (unsigned)(known ? 1 + file->count : 1), hash_task, file);
    for (size_t i = 0; i < file->count && known; i++)
      if (file->good[i])
        mark(file, of->first + file->first + i, (file->first + i) * set->block);
    *done += file->count * set->block;
    if (!progress_set(bar, *done))
      return false;
  }
  md5_end(&file->sum, digest);
  return file->size == of->length && memcmp(digest, of->md5, MD5_BYTES) == 0;
}

/* Is a block of the file at its place? */
static bool in_place(const scanned *file, size_t n) {
  const par2_place *place = &file->found->places[file_of(file)->first + n];
  return place->source == file->source && place->start == n * file->found->set->block;
}

/* Search a file of the set between the blocks that are at their places. */
static bool search_gaps(scanned *file, par2_search *search) {
  const par2_set *set = file->found->set;
  size_t count = file_of(file)->first != SIZE_MAX ? file_of(file)->count : 0;
  for (size_t n = 0; n <= count; n++) {
    size_t first = n;
    while (n < count && !in_place(file, n))
      n++;
    uint64_t start = first * set->block, end = n < count ? n * set->block : file->size;
    if (end > file->size)
      end = file->size;
    if (!par2_search_range(search, file->fd, file->size, start, end, mark, file))
      return false;
  }
  return true;
}

static int refuse_read(const scanned *file) {
  if (report_interrupted())
    return TOOL_REFUSED;
  return refuse("cannot read %s: %s", par2_source_name(file->found, file->source),
                errno == PAR2_VAIN ? "too many positions have the CRC-32 of a block, not its MD5"
                                   : par2_reason(par2_read_error()));
}

/* Find the short block at the end of a damaged file. Its MD5 is that of up to 4 GiB of zeros, too,
 * so its CRC-32 is compared first. */
static void scan_short_block(scanned *file) {
  par2_found *found = file->found;
  const par2_file *of = file_of(file);
  if (of->blocks == NULL || of->count == 0)
    return;
  size_t n = of->count - 1;
  const par2_checksums *known = &of->blocks[n];
  uint64_t start = n * found->set->block, length = of->length - start;
  par2_checksums sums;
  if (length < found->set->block && start + length <= file->size &&
      par2_crc_block(file->fd, start, length, found->set->block, &sums) && sums.crc == known->crc &&
      par2_may_pad(&found->zeros, found->set->block - length, found->bytes) &&
      par2_hash_block(file->fd, start, length, found->set->block, &sums) &&
      memcmp(sums.md5, known->md5, MD5_BYTES) == 0)
    mark(file, of->first + n, start);
}

/* Open a source. Returns -1 in file->fd if it does not exist, or if the device cannot open it. */
static int open_scanned(scanned *file, par2_found *found, size_t source) {
  struct stat info;
  const char *name = par2_source_name(found, source);
  *file = (scanned){.found = found, .source = source};
  file->fd = par2_open_source(found, source);
  if (file->fd < 0 && medium_failed(errno))
    file->fd = par2_open_source(found, source); /* as a read that fails once */
  if (file->fd < 0 && (is_absent(errno) || errno == ENOTDIR))
    return TOOL_OK;
  if (file->fd < 0 && medium_failed(errno)) {
    file->error = errno;
    return TOOL_OK;
  }
  if (file->fd < 0 && errno == ELOOP)
    return refuse("%s: %s is or is below a symbolic link", found->set->name, name);
  if (file->fd < 0 || fstat(file->fd, &info) != 0)
    return refuse("cannot open %s: %s", name, strerror(errno));
  file->size = (uint64_t)info.st_size;
  if (S_ISREG(info.st_mode))
    return TOOL_OK;
  close(file->fd);
  return refuse("%s is not a regular file", name);
}

/* Mark the blocks of an intact file without known checksums. */
static void mark_all(scanned *file) {
  const par2_file *of = file_of(file);
  for (size_t n = 0; n < of->count; n++)
    mark(file, of->first + n, n * file->found->set->block);
}

static int scan_file(par2_found *found, size_t source, control *call, uint64_t *done) {
  scanned file;
  int status = open_scanned(&file, found, source);
  if (status != TOOL_OK || (file.fd < 0 && file.error == 0))
    return status;
  found->states[source] = PAR2_DAMAGED;
  if (file.error != 0) {
    say("%s: %s", par2_source_name(found, source), strerror(file.error));
    return TOOL_OK;
  }
  found->bytes += file.size;
  if (scan_in_place(&file, call, &call->bar, done)) {
    found->states[source] = PAR2_INTACT;
    mark_all(&file);
  } else
    scan_short_block(&file);
  close(file.fd);
  return report_interrupted() ? TOOL_REFUSED : TOOL_OK;
}

static int search_file(par2_found *found, size_t source, par2_search *search) {
  scanned file;
  size_t files = found->set->file_count;
  int status = open_scanned(&file, found, source);
  if (status != TOOL_OK || file.fd < 0)
    return status;
  bool whole = source < files
                   ? search_gaps(&file, search)
                   : par2_search_range(search, file.fd, file.size, 0, file.size, mark, &file);
  if (!whole)
    status = refuse_read(&file);
  close(file.fd);
  return status;
}

static void count_found(par2_found *found) {
  const par2_set *set = found->set;
  found->lost = 0;
  memset(found->found, 0, set->file_count * sizeof *found->found);
  for (size_t f = 0; f < set->file_count; f++)
    for (size_t n = 0; n < set->files[f].count; n++) {
      bool present = found->places[set->files[f].first + n].source != SIZE_MAX;
      found->found[f] += present;
      found->lost += !present;
    }
}

/* Search for the missing blocks, first in the files of the set. */
static int search_rest(par2_found *found) {
  size_t files = found->set->file_count;
  int status = TOOL_OK;
  count_found(found);
  if (found->lost > 0) {
    par2_search *search = par2_search_create(found->set);
    for (size_t s = 0; s < files + found->extra_count && status == TOOL_OK; s++)
      if (s >= files ? !par2_is_volume(par2_source_name(found, s))
                     : found->states[s] == PAR2_DAMAGED)
        status = search_file(found, s, search);
    par2_search_free(search);
    count_found(found);
  }
  return status;
}

int par2_scan(par2_found *found, const par2_set *set, char *const *extra, size_t extra_count,
              const options *opt) {
  control call;
  uint64_t total = 0, done = 0;
  int status = TOOL_OK;
  *found = (par2_found){.set = set, .extra = extra, .extra_count = extra_count};
  found->states = must_alloc(set->file_count, sizeof *found->states);
  found->found = must_alloc(set->file_count, sizeof *found->found);
  found->places = must_alloc(set->blocks, sizeof *found->places);
  for (size_t i = 0; i < set->blocks; i++)
    found->places[i].source = SIZE_MAX;
  for (size_t f = 0; f < set->file_count; f++)
    total += par2_blocks_of(set->files[f].length, set->block) * set->block;
  control_begin(&call, "verify", total, opt);
  for (size_t f = 0; f < set->file_count && status == TOOL_OK; f++)
    status = scan_file(found, f, &call, &done);
  control_end(&call);
  return status == TOOL_OK ? search_rest(found) : status;
}

void par2_found_free(par2_found *found) {
  free(found->states);
  free(found->found);
  free(found->places);
}
