#include "par2_volumes.h"

#include <errno.h>
#include <gfsmith.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { MOST_FILES = 18 }; /* the index, and volumes with 1 to 2^15 recovery blocks */

/* The packets that every file of a set has. */
typedef struct critical {
  uint8_t *bytes; /* NULL: only the size is counted */
  size_t size;
  const uint8_t *set;
} critical;

/* Begin a packet with room for a body of `size` bytes, which is padded to a multiple of 4. Returns
 * the body, or NULL. */
static uint8_t *begin(critical *to, const char *type, size_t size) {
  size_t padded = (size + 3) / 4 * 4;
  uint8_t *header = to->bytes != NULL ? to->bytes + to->size : NULL;
  to->size += PAR2_HEADER + padded;
  if (header == NULL)
    return NULL;
  par2_put_header(header, to->set, type, padded);
  memset(header + PAR2_HEADER, 0, padded);
  return header + PAR2_HEADER;
}

static void end(uint8_t *body, size_t size) {
  md5 sum;
  par2_begin_packet(&sum, body - PAR2_HEADER);
  md5_add(&sum, body, (size + 3) / 4 * 4);
  md5_end(&sum, body - PAR2_HEADER + PAR2_AT_MD5);
}

static void put_main(critical *to, const par2_set *set) {
  size_t size = PAR2_MAIN + set->file_count * PAR2_ID;
  uint8_t *body = begin(to, PAR2_TYPE_MAIN, size);
  if (body == NULL)
    return;
  par2_put(body, 8, set->block);
  par2_put(body + 8, 4, set->file_count);
  for (size_t f = 0; f < set->file_count; f++)
    memcpy(body + PAR2_MAIN + f * PAR2_ID, set->files[f].id, PAR2_ID);
  end(body, size);
}

static void put_description(critical *to, const par2_file *file) {
  size_t length = strlen(file->name), size = PAR2_DESCRIPTION + length;
  uint8_t *body = begin(to, PAR2_TYPE_DESCRIPTION, size);
  if (body == NULL)
    return;
  memcpy(body, file->id, PAR2_ID);
  memcpy(body + 16, file->md5, MD5_BYTES);
  memcpy(body + 32, file->head, MD5_BYTES);
  par2_put(body + 48, 8, file->length);
  memcpy(body + PAR2_DESCRIPTION, file->name, length);
  end(body, size);
}

static void put_checksums(critical *to, const par2_file *file) {
  size_t size = PAR2_ID + file->count * PAR2_CHECKSUMS;
  uint8_t *body = begin(to, PAR2_TYPE_CHECKSUMS, size);
  if (body == NULL)
    return;
  memcpy(body, file->id, PAR2_ID);
  for (size_t i = 0; i < file->count; i++) {
    uint8_t *entry = body + PAR2_ID + i * PAR2_CHECKSUMS;
    memcpy(entry, file->blocks[i].md5, MD5_BYTES);
    par2_put(entry + MD5_BYTES, 4, file->blocks[i].crc);
  }
  end(body, size);
}

static void put_creator(critical *to) {
  char text[64];
  size_t size = (size_t)snprintf(text, sizeof text, "gfsmith-shards %s", gfsmith_version());
  uint8_t *body = begin(to, PAR2_TYPE_CREATOR, size);
  if (body == NULL)
    return;
  memcpy(body, text, size);
  end(body, size);
}

static void put_all(critical *to, const par2_set *set) {
  to->size = 0;
  to->set = set->id;
  put_main(to, set);
  for (size_t f = 0; f < set->file_count; f++) {
    put_description(to, &set->files[f]);
    if (set->files[f].count > 0)
      put_checksums(to, &set->files[f]);
  }
  put_creator(to);
}

/* The id of the set is the MD5 of the body of its Main packet. */
static void set_id(par2_set *set) {
  size_t size = PAR2_MAIN + set->file_count * PAR2_ID;
  critical only = {.bytes = must_alloc(PAR2_HEADER + size, 1), .set = set->id};
  md5 sum;
  put_main(&only, set);
  md5_begin(&sum);
  md5_add(&sum, only.bytes + PAR2_HEADER, size);
  md5_end(&sum, set->id);
  free(only.bytes);
}

enum { DIGITS = 5 }; /* of PAR2_MOST_BLOCKS */

/* A number with as many digits as the largest one; returns the first of them. */
static const char *number(char text[24], size_t value, size_t largest) {
  int width = snprintf(text, 24, "%zu", largest);
  int length = snprintf(text, 24, "%0*zu", DIGITS, value);
  return text + (length - width);
}

/* Plan the file with the recovery blocks first to end - 1; the index has none. */
static int plan_file(par2_volumes *volumes, size_t first, size_t end, size_t recovery) {
  const char *name = volumes->set->name;
  size_t base = par2_is_volume(name) ? strlen(name) - strlen(".par2") : strlen(name);
  size_t size = base + 64;
  char *path = must_alloc(size, 1);
  char from[24], count[24];
  if (first == end)
    snprintf(path, size, "%.*s.par2", (int)base, name);
  else
    snprintf(path, size, "%.*s.vol%s+%s.par2", (int)base, name, number(from, first, recovery),
             number(count, end - first, recovery));
  volumes->first[volumes->count] = first;
  volumes->first[volumes->count + 1] = end;
  int status = output_plan(&volumes->outs[volumes->count++], path, false);
  if (status == TOOL_OK && path_exists(path))
    status = refuse("%s already exists", path);
  return status;
}

int par2_volumes_plan(par2_volumes *volumes, par2_set *set, size_t recovery) {
  critical sizes = {0};
  set_id(set);
  put_all(&sizes, set);
  *volumes = (par2_volumes){.set = set, .critical = sizes.size};
  volumes->outs = must_alloc(MOST_FILES, sizeof *volumes->outs);
  volumes->first = must_alloc(MOST_FILES + 1, sizeof *volumes->first);
  int status = plan_file(volumes, 0, 0, recovery);
  for (size_t first = 0, count = 1; first < recovery && status == TOOL_OK; count *= 2) {
    size_t end = recovery - first < count ? recovery : first + count;
    status = plan_file(volumes, first, end, recovery);
    first = end;
  }
  return status;
}

const output *par2_volume_of(const par2_volumes *volumes, size_t recovery, uint64_t *offset) {
  size_t n = 1;
  while (volumes->first[n + 1] <= recovery)
    n++;
  *offset = volumes->critical +
            (recovery - volumes->first[n]) * (PAR2_HEADER + PAR2_EXPONENT + volumes->set->block);
  return &volumes->outs[n];
}

/* Volumes of several recovery blocks get a second copy at the end. */
static bool write_critical(const par2_volumes *volumes, size_t n, const critical *packets) {
  size_t blocks = volumes->first[n + 1] - volumes->first[n];
  uint64_t end = volumes->critical + blocks * (PAR2_HEADER + PAR2_EXPONENT + volumes->set->block);
  return output_write_at(&volumes->outs[n], packets->bytes, packets->size, 0) &&
         (blocks < 2 || output_write_at(&volumes->outs[n], packets->bytes, packets->size, end));
}

int par2_volumes_finish(par2_volumes *volumes) {
  critical packets = {.bytes = malloc((size_t)volumes->critical)};
  if (packets.bytes == NULL)
    return refuse("out of memory");
  put_all(&packets, volumes->set);
  for (size_t n = 0; n < volumes->count; n++)
    if (!write_critical(volumes, n, &packets)) {
      volumes->outs[n].error = errno;
      break;
    }
  free(packets.bytes);
  for (size_t n = 0; n < volumes->count; n++)
    if (volumes->outs[n].error != 0)
      return output_failure(volumes->outs, volumes->count);
  return TOOL_OK;
}

void par2_volumes_free(par2_volumes *volumes) {
  output_discard(volumes->outs, volumes->count);
  free(volumes->outs);
  free(volumes->first);
}
