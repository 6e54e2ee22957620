#include "par2_set.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "medium.h"
#include "output.h"
#include "par2_field.h"
#include "par2_versions.h"
#include "report.h"

#define SUFFIX ".par2"
enum { MOST_MAIN = 16 * 1024 * 1024 }; /* bytes of a Main packet */

bool par2_is_volume(const char *path) {
  const char *name = path_last(path);
  size_t length = strlen(name), suffix = strlen(SUFFIX);
  return length > suffix && strcasecmp(name + length - suffix, SUFFIX) == 0;
}

static size_t skip_digits(const char *name, size_t end) {
  while (end > 0 && isdigit((unsigned char)name[end - 1]))
    end--;
  return end;
}

size_t par2_base_length(const char *name) {
  size_t base = strlen(name) - (par2_is_volume(name) ? strlen(SUFFIX) : 0);
  size_t end = skip_digits(name, base);
  if (end == base || end == 0 || (name[end - 1] != '+' && name[end - 1] != '-'))
    return base;
  size_t first = skip_digits(name, end - 1);
  bool volume = first < end - 1 && first > 4 && strncasecmp(name + first - 4, ".vol", 4) == 0;
  return volume ? first - 4 : base;
}

int par2_open_below(const char *folder, const char *name, int flags) {
  int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  int fd = at >= 0 ? open_below(at, name, flags) : -1, reason = errno;
  if (at >= 0)
    close(at);
  errno = reason;
  return fd;
}

/* Scan a file of packets in the folder of the set. In a folder that users share, it may be one of
 * another user and another set, which cannot be opened. */
static int scan_sibling(par2_set *set, const char *name) {
  char *path = path_join(set->folder, name);
  bool hidden = access(path, R_OK) != 0 && errno != ENOENT && !medium_failed(errno);
  if (hidden)
    say("%s: left out: %s", path, strerror(errno));
  int status = hidden ? TOOL_OK : par2_packets_scan(&set->packets, path);
  free(path);
  return status;
}

/* Scan files in the folder of `path` whose names begin with its name: those with the same name but
 * for the numbers of a volume if `volumes`, otherwise the others, which may be those of other sets.
 */
static int scan_siblings(par2_set *set, const char *path, bool volumes) {
  const char *name = path_last(path);
  struct dirent **entries;
  size_t base = par2_base_length(name);
  int status = TOOL_OK, count = scandir(set->folder, &entries, NULL, alphasort);
  if (count < 0)
    return refuse("cannot read %s: %s", set->folder, strerror(errno));
  for (int i = 0; i < count; i++) {
    const char *other = entries[i]->d_name;
    if (status == TOOL_OK && par2_is_volume(other) && strncmp(other, name, base) == 0 &&
        other[base] == '.' && (par2_base_length(other) == base) == volumes &&
        strcmp(other, name) != 0)
      status = scan_sibling(set, other);
    free(entries[i]);
  }
  free(entries);
  return status;
}

/* The packet n or a later one, of this type, set and version; NULL if there is none. */
static const par2_packet *next_packet(const par2_set *set, const char *type, size_t *n) {
  for (; *n < set->packets.count; ++*n) {
    const par2_packet *packet = &set->packets.list[*n];
    if (memcmp(packet->type, type, PAR2_ID) == 0 && memcmp(packet->set, set->id, PAR2_ID) == 0 &&
        !set->packets.foreign[packet->file])
      return &set->packets.list[(*n)++];
  }
  return NULL;
}

static int compare_ids(const void *a, const void *b) { return memcmp(a, b, PAR2_ID); }

/* The files that the body of a Main packet lists. */
static int interpret_main(par2_set *set, const uint8_t *body, size_t ids) {
  uint8_t digest[MD5_BYTES];
  const char *broken = NULL;
  md5 sum;
  md5_begin(&sum);
  md5_add(&sum, body, PAR2_MAIN + ids * PAR2_ID);
  md5_end(&sum, digest);
  set->block = par2_get(body, 8);
  uint64_t recoverable = par2_get(body + 8, 4);
  if (memcmp(digest, set->id, PAR2_ID) != 0)
    broken = "the id of the set does not match";
  else if (set->block == 0 || set->block % 4 != 0 || set->block > PAR2_MOST_BLOCK)
    broken = "the block size must be a multiple of 4, at most 4 GiB";
  else if (recoverable > ids || recoverable > PAR2_MOST_BLOCKS)
    broken = "the number of files is wrong";
  if (broken != NULL)
    return refuse("%s: wrong Main packet: %s", set->name, broken);
  set->files = must_alloc(ids, sizeof *set->files);
  set->file_count = ids;
  for (size_t i = 0; i < ids; i++) {
    memcpy(set->files[i].id, body + PAR2_MAIN + i * PAR2_ID, PAR2_ID);
    set->files[i].first = i < recoverable ? 0 : SIZE_MAX;
  }
  return TOOL_OK;
}

static int read_main(par2_set *set, const par2_packet *packet) {
  uint8_t *body;
  if (packet->size < PAR2_MAIN || packet->size > MOST_MAIN ||
      (packet->size - PAR2_MAIN) % PAR2_ID != 0)
    return refuse("%s: the Main packet has a wrong length", set->name);
  int status = par2_packets_body(&set->packets, packet, &body);
  if (status != TOOL_OK)
    return status;
  status = interpret_main(set, body, (size_t)(packet->size - PAR2_MAIN) / PAR2_ID);
  free(body);
  return status;
}

/* An index of the files by id. */
typedef struct id_entry {
  uint8_t id[PAR2_ID];
  size_t file;
} id_entry;

static id_entry *index_ids(const par2_set *set) {
  id_entry *index = must_alloc(set->file_count, sizeof *index);
  for (size_t i = 0; i < set->file_count; i++) {
    memcpy(index[i].id, set->files[i].id, PAR2_ID);
    index[i].file = i;
  }
  qsort(index, set->file_count, sizeof *index, compare_ids);
  return index;
}

static par2_file *find_file(const par2_set *set, const id_entry *index, const uint8_t *id) {
  const id_entry *found = bsearch(id, index, set->file_count, sizeof *index, compare_ids);
  return found != NULL ? &set->files[found->file] : NULL;
}

/* MultiPar lists an empty folder as a file without bytes whose name ends with a slash. */
static bool is_folder(const par2_file *file) {
  return file->length == 0 && file->name[0] != '\0' && *path_last(file->name) == '\0';
}

/* body: of a FileDesc packet; room: bytes of the name and its padding. */
static int interpret_description(const par2_set *set, par2_file *file, const uint8_t *body,
                                 size_t room) {
  uint8_t id[PAR2_ID];
  char *name = must_alloc(room + 1, 1);
  memcpy(name, body + PAR2_DESCRIPTION, room);
  file->name = name;
  memcpy(file->md5, body + 16, MD5_BYTES);
  memcpy(file->head, body + 32, MD5_BYTES);
  file->length = par2_get(body + 48, 8);
  par2_file_id(id, file->head, file->length, name);
  if (memcmp(id, file->id, PAR2_ID) != 0)
    return refuse("%s: the description of \"%s\" does not match its id", set->name, name);
  if (file->length > INT64_MAX)
    return refuse("%s: the length of \"%s\" is too large", set->name, name);
  const char *fault = is_folder(file) ? NULL : par2_name_fault(name);
  return fault == NULL ? TOOL_OK
                       : refuse("%s: the name of a file %s: \"%s\"", set->name, fault, name);
}

static int read_description(par2_set *set, const id_entry *index, const par2_packet *packet) {
  uint8_t *body;
  if (packet->size <= PAR2_DESCRIPTION || packet->size > PAR2_DESCRIPTION + PAR2_MOST_NAME)
    return refuse("%s: a FileDesc packet has a wrong length", set->name);
  par2_file *file = find_file(set, index, packet->lead);
  if (file == NULL || file->name != NULL)
    return TOOL_OK;
  int status = par2_packets_body(&set->packets, packet, &body);
  if (status != TOOL_OK)
    return status;
  status = interpret_description(set, file, body, (size_t)packet->size - PAR2_DESCRIPTION);
  free(body);
  return status;
}

/* Number the blocks of the recovery set. */
static int number_blocks(par2_set *set) {
  for (size_t i = 0; i < set->file_count; i++) {
    par2_file *file = &set->files[i];
    uint64_t count = par2_blocks_of(file->length, set->block);
    if (file->name == NULL)
      return refuse("%s: no intact packet describes file %zu of %zu", set->name, i + 1,
                    set->file_count);
    if (file->first == SIZE_MAX)
      continue;
    if (count > PAR2_MOST_BLOCKS - set->blocks)
      return refuse("%s: more than %d blocks", set->name, PAR2_MOST_BLOCKS);
    file->first = set->blocks;
    file->count = (size_t)count;
    set->blocks += file->count;
  }
  return TOOL_OK;
}

static int read_checksums(par2_set *set, const id_entry *index, const par2_packet *packet) {
  uint8_t *body;
  par2_file *file = packet->size < PAR2_ID ? NULL : find_file(set, index, packet->lead);
  if (file == NULL || file->blocks != NULL || file->count == 0 ||
      packet->size != PAR2_ID + (uint64_t)file->count * PAR2_CHECKSUMS)
    return TOOL_OK;
  int status = par2_packets_body(&set->packets, packet, &body);
  if (status != TOOL_OK)
    return status;
  file->blocks = must_alloc(file->count, sizeof *file->blocks);
  for (size_t i = 0; i < file->count; i++) {
    const uint8_t *from = body + PAR2_ID + i * PAR2_CHECKSUMS;
    memcpy(file->blocks[i].md5, from, MD5_BYTES);
    file->blocks[i].crc = (uint32_t)par2_get(from + MD5_BYTES, 4);
  }
  free(body);
  return TOOL_OK;
}

static void leave_out_folders(par2_set *set) {
  size_t kept = 0;
  for (size_t i = 0; i < set->file_count; i++) {
    if (!is_folder(&set->files[i])) {
      set->files[kept++] = set->files[i];
      continue;
    }
    say("%s: left out, because it is a folder", set->files[i].name);
    free(set->files[i].name);
  }
  set->file_count = kept;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Is the folder of a name, or one around it, itself a name? */
static bool is_below_file(char *const *names, size_t count, const char *name) {
  char *folder = must_copy(name), *slash;
  bool found = false;
  while (!found && (slash = strrchr(folder, '/')) != NULL) {
    *slash = '\0';
    found = bsearch(&folder, names, count, sizeof *names, compare_names) != NULL;
  }
  free(folder);
  return found;
}

/* No two files may have the same name, and no file may be a folder of another one. */
static int check_names(const par2_set *set) {
  char **names = must_alloc(set->file_count, sizeof *names);
  int status = TOOL_OK;
  for (size_t i = 0; i < set->file_count; i++)
    names[i] = set->files[i].name;
  qsort(names, set->file_count, sizeof *names, compare_names);
  for (size_t i = 1; i < set->file_count && status == TOOL_OK; i++)
    if (strcmp(names[i - 1], names[i]) == 0)
      status = refuse("%s: two files have the name \"%s\"", set->name, names[i]);
  for (size_t i = 0; i < set->file_count && status == TOOL_OK; i++)
    if (is_below_file(names, set->file_count, names[i]))
      status = refuse("%s: \"%s\" is below another file", set->name, names[i]);
  free(names);
  return status;
}

static int compare_exponents(const void *a, const void *b) {
  const par2_recovery *x = a, *y = b;
  return x->exponent < y->exponent ? -1 : x->exponent > y->exponent;
}

static void read_recovery(par2_set *set) {
  const par2_packet *packet;
  size_t kept = 0;
  set->recovery = must_alloc(set->packets.count, sizeof *set->recovery);
  for (size_t n = 0; (packet = next_packet(set, PAR2_TYPE_RECOVERY, &n)) != NULL;) {
    if (packet->size != PAR2_EXPONENT + set->block)
      continue;
    unsigned power = (unsigned)par2_get(packet->lead, PAR2_EXPONENT);
    if (power < PAR2_ORDER)
      set->recovery[set->recovery_count++] =
          (par2_recovery){power, packet->file, packet->start + PAR2_EXPONENT};
  }
  qsort(set->recovery, set->recovery_count, sizeof *set->recovery, compare_exponents);
  for (size_t i = 0; i < set->recovery_count; i++)
    if (kept == 0 || set->recovery[kept - 1].exponent != set->recovery[i].exponent)
      set->recovery[kept++] = set->recovery[i];
  set->recovery_count = kept;
}

/* The packets of the set, whose order does not matter. */
static int interpret(par2_set *set) {
  const par2_packet *packet;
  size_t n = 0;
  if ((packet = next_packet(set, PAR2_TYPE_MAIN, &n)) == NULL)
    return refuse("%s: no intact Main packet", set->name);
  int status = read_main(set, packet);
  if (status != TOOL_OK)
    return status;
  id_entry *index = index_ids(set);
  for (size_t i = 1; i < set->file_count && status == TOOL_OK; i++)
    if (compare_ids(index[i - 1].id, index[i].id) == 0)
      status = refuse("%s: the Main packet lists a file twice", set->name);
  for (n = 0; status == TOOL_OK && (packet = next_packet(set, PAR2_TYPE_DESCRIPTION, &n));)
    status = read_description(set, index, packet);
  if (status == TOOL_OK)
    status = number_blocks(set);
  for (n = 0; status == TOOL_OK && (packet = next_packet(set, PAR2_TYPE_CHECKSUMS, &n));)
    status = read_checksums(set, index, packet);
  free(index);
  if (status == TOOL_OK) {
    leave_out_folders(set);
    status = check_names(set);
  }
  if (status == TOOL_OK)
    read_recovery(set);
  return status;
}

/* No file of the set has an intact packet. */
static int refuse_empty(const par2_set *set, const char *path) {
  struct stat info;
  if (set->packets.path_count > 0)
    return refuse("%s: no intact packet of PAR2", path);
  if (stat(path, &info) != 0)
    return refuse("%s: no such file, and no volume of it", path);
  if (S_ISDIR(info.st_mode))
    return refuse("%s is a folder; allowed: a file SET.par2 of a set, such as %s/SET.par2", path,
                  path);
  return refuse("%s is not a regular file; allowed: a file SET.par2 of a set", path);
}

/* Take the id of the set from the first packets that were found. Several files must agree. */
static int identify(par2_set *set) {
  const par2_packet *list = set->packets.list;
  if (set->packets.count > 0)
    memcpy(set->id, list[0].set, PAR2_ID);
  for (size_t i = 1; i < set->packets.count; i++)
    if (list[i].file != list[0].file && memcmp(list[i].set, set->id, PAR2_ID) != 0)
      return refuse("%s: no intact packet, and its volumes are those of several sets: name one of "
                    "them instead",
                    set->name);
  return TOOL_OK;
}

static int scan_named(par2_set *set, char *const *more, size_t count) {
  int status = TOOL_OK;
  for (size_t i = 0; i < count && status == TOOL_OK; i++)
    if (par2_is_volume(more[i]))
      status = par2_packets_scan(&set->packets, more[i]);
  return status;
}

enum { ITSELF, VOLUMES, NAMED, SOURCES };

static int scan_source(par2_set *set, int source, char *const *more, size_t count) {
  if (source == NAMED)
    return scan_named(set, more, count);
  return source == VOLUMES ? scan_siblings(set, set->name, true)
                           : par2_packets_scan(&set->packets, set->name);
}

/* The first source with a packet tells which set it is: the file itself, its volumes, and then the
 * named ones. */
static int scan_all(par2_set *set, char *const *more, size_t count) {
  int status = TOOL_OK;
  for (int source = ITSELF; source < SOURCES && status == TOOL_OK; source++) {
    bool known = set->packets.count > 0;
    status = scan_source(set, source, more, count);
    if (status == TOOL_OK && !known)
      status = identify(set);
  }
  if (status == TOOL_OK && set->packets.count == 0)
    status = refuse_empty(set, set->name);
  size_t own = set->packets.path_count;
  if (status == TOOL_OK)
    status = scan_siblings(set, set->name, false);
  return status == TOOL_OK ? par2_versions_find(&set->packets, set->id, set->name, own) : status;
}

int par2_set_name(par2_set *set, const char *path) {
  set->folder = path_folder(path);
  set->name = must_copy(path);
  return *path_last(path) != '\0'
             ? TOOL_OK
             : refuse("%s is a folder; allowed: a file SET.par2 of a set, such as %sSET.par2", path,
                      path);
}

int par2_set_read(par2_set *set, const char *path, char *const *more, size_t count) {
  int status = par2_set_name(set, path);
  if (status == TOOL_OK)
    status = scan_all(set, more, count);
  return status == TOOL_OK ? interpret(set) : status;
}

void par2_set_free(par2_set *set) {
  for (size_t i = 0; i < set->file_count; i++) {
    free(set->files[i].name);
    free(set->files[i].blocks);
  }
  free(set->files);
  free(set->recovery);
  free(set->folder);
  free(set->name);
  par2_packets_free(&set->packets);
}
