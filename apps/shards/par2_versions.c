#include "par2_versions.h"

#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "report.h"

/* The FileDesc packets of a set, by the ids of their files, and then in the order in which they
 * were found. */
typedef struct descriptions {
  par2_packets *packets;
  const par2_packet **list;
  size_t count;
} descriptions;

static int compare(const void *a, const void *b) {
  const par2_packet *x = *(const par2_packet *const *)a, *y = *(const par2_packet *const *)b;
  int order = memcmp(x->lead, y->lead, PAR2_ID);
  return order != 0 ? order : x < y ? -1 : x > y;
}

static void collect(descriptions *all, par2_packets *packets, const uint8_t *set) {
  *all = (descriptions){.packets = packets,
                        .list = must_alloc(packets->count, sizeof(const par2_packet *))};
  for (size_t n = 0; n < packets->count; n++) {
    const par2_packet *packet = &packets->list[n];
    if (memcmp(packet->type, PAR2_TYPE_DESCRIPTION, PAR2_ID) == 0 &&
        memcmp(packet->set, set, PAR2_ID) == 0)
      all->list[all->count++] = packet;
  }
  qsort(all->list, all->count, sizeof(const par2_packet *), compare);
}

/* Do two packets for the same id describe different bytes, in different files of packets? The MD5
 * of a file is behind its id. */
static bool differ(const par2_packet *one, const par2_packet *other) {
  return one->file != other->file &&
         memcmp(one->lead + PAR2_ID, other->lead + PAR2_ID, MD5_BYTES) != 0;
}

static bool same_id(const par2_packet *one, const par2_packet *other) {
  return memcmp(one->lead, other->lead, PAR2_ID) == 0;
}

/* Mark the files that describe other bytes than the first description of each file does, which is
 * one of the first `trusted` files. Files before `own` must not differ, unless they were marked
 * before.
 */
static bool mark(const descriptions *all, size_t trusted, size_t own) {
  bool *foreign = all->packets->foreign, good = true;
  const par2_packet *first = NULL;
  for (size_t n = 0; n < all->count; n++) {
    const par2_packet *packet = all->list[n];
    if (foreign[packet->file])
      continue;
    if (first == NULL || !same_id(first, packet))
      first = packet;
    if (first->file >= trusted || !differ(first, packet))
      continue;
    foreign[packet->file] = true;
    good = good && packet->file >= own;
  }
  return good;
}

int par2_versions_find(par2_packets *packets, const uint8_t *set, const char *name, size_t own) {
  descriptions all;
  collect(&all, packets, set);
  packets->foreign = must_alloc(packets->path_count, sizeof *packets->foreign);
  if (packets->path_count > 0 && strcmp(packets->paths[0], name) == 0)
    mark(&all, 1, 0);
  bool good = mark(&all, packets->path_count, own);
  free(all.list);
  if (!good)
    return refuse(
        "%s: its volumes are those of several versions of the set: name one of them instead", name);
  for (size_t n = 0; n < packets->path_count; n++)
    if (packets->foreign[n])
      say("%s: ignored, another version of the set", packets->paths[n]);
  return TOOL_OK;
}
