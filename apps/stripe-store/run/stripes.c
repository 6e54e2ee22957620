#include "run.h"

#include "common/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ITEM_LEAST = 1 << 20, ITEM_PART = 512 << 10, NAME = 48 };

#define LOOPBACK "127.0.0.1"

bool stripe_folder(const store *s, unsigned stripe, char folder[FILES_PATH]) {
  char name[24];
  if (s->stripes == 1) {
    snprintf(folder, FILES_PATH, "%s", s->folder);
    return true;
  }
  snprintf(name, sizeof name, "stripe-%u", stripe);
  return files_path(folder, s->folder, name);
}

unsigned stripe_place(const store *s, unsigned stripe, unsigned rank) {
  return (rank + stripe) % (store_nodes(s) + 1);
}

unsigned store_nodes(const store *s) { return s->agent.layout.k + s->agent.layout.m; }

static int space_of(const store *s, unsigned place) {
  return s->netns ? s->network.space[place] : -1;
}

/* The name of a process in messages. */
static char *label(const store *s, unsigned stripe, const char *what, unsigned rank,
                   char text[NAME]) {
  char of[24] = "", number[16] = "";
  if (s->stripes > 1)
    snprintf(of, sizeof of, "stripe %u: ", stripe);
  if (rank != LAYOUT_AGENT)
    snprintf(number, sizeof number, " %u", rank);
  snprintf(text, NAME, "%s%s%s", of, what, number);
  return text;
}

static char *join(char *to, size_t room, const char *folder, const char *name) {
  snprintf(to, room, "%s/%s", folder, name);
  return to;
}

static void add_agent(store *s, unsigned stripe, char *options[], int count) {
  char program[FILES_PATH + 32], fabric[80], home[48], name[NAME], folder[FILES_PATH];
  char *argv[ARGUMENTS_MAX + 7];
  address at = s->agent.fabric;
  unsigned place = stripe_place(s, stripe, LAYOUT_AGENT);
  argv[0] = join(program, sizeof program, s->programs, "stripe-agent");
  memcpy(argv + 1, options, (size_t)count++ * sizeof *argv);
  if (s->netns) { /* its clients are in the namespace of this process */
    network_address(place, at.host);
    address_text(&at, fabric);
    snprintf(home, sizeof home, "/proc/%ld/ns/net", (long)getpid());
    char *const more[] = {"--fabric", fabric, "--listen-netns", home};
    memcpy(argv + count, more, sizeof more);
    count += 4;
  }
  stripe_folder(s, stripe, folder);
  argv[count++] = folder;
  argv[count] = NULL;
  process_add(&s->processes, label(s, stripe, "agent", LAYOUT_AGENT, name), argv, NULL,
              space_of(s, place));
}

static void add_chunk(store *s, unsigned stripe, unsigned rank) {
  char program[FILES_PATH + 32], name[NAME], number[16], host[NETWORK_ADDRESS] = LOOPBACK;
  char folder[FILES_PATH], disk[FILES_PATH], most[24];
  unsigned place = stripe_place(s, stripe, rank);
  snprintf(number, sizeof number, "%u", rank);
  stripe_folder(s, stripe, folder);
  if (s->netns)
    network_address(place, host);
  char *argv[13] = {join(program, sizeof program, s->programs, "stripe-chunk"), number, folder,
                    "--host", host};
  unsigned count = 5;
  if (s->disk > 0) {
    disk_path(disk, folder, rank);
    snprintf(most, sizeof most, "%llu", s->disk);
    char *const more[] = {"--disk", disk, "--disk-max", most};
    memcpy(argv + count, more, sizeof more);
    count += 4;
  }
  if (s->agent.trace != NULL) {
    argv[count++] = "--trace";
    argv[count++] = (char *)s->agent.trace;
  }
  const char *again = s->disk > 0 ? "--again" : NULL;
  if (folder_had_disk(folder, rank)) {
    argv[count] = (char *)again;
    again = NULL;
  }
  process_add(&s->processes, label(s, stripe, "chunk server", rank, name), argv, again,
              space_of(s, place));
}

/* Bytes of the largest item: memcached takes only multiples of the parts in which it stores it. */
static uint64_t largest_item(const store *s) {
  uint64_t bytes = s->agent.value_max / s->agent.layout.k + 4096;
  return bytes < ITEM_LEAST ? ITEM_LEAST : (bytes + ITEM_PART - 1) / ITEM_PART * ITEM_PART;
}

/* -M makes a full memory an error and never a reason to evict. One thread, and no housekeeping,
 * which could disturb the listing of keys. */
static void add_memcached(store *s, unsigned stripe, unsigned rank) {
  char name[NAME], file[32], socket[FILES_PATH + 32], memory[32], item[32], folder[FILES_PATH];
  uint64_t largest = largest_item(s), least = 4 * largest >> 20;
  uint64_t keep = s->keep > 0 ? s->keep : least < 64 ? 64 : least;
  stripe_folder(s, stripe, folder);
  snprintf(file, sizeof file, "memcached-%u", rank);
  snprintf(memory, sizeof memory, "%llu", (unsigned long long)keep);
  snprintf(item, sizeof item, "%llu", (unsigned long long)largest);
  char *argv[] = {"memcached",
                  "-s",
                  join(socket, sizeof socket, folder, file),
                  "-a",
                  "0700",
                  "-M",
                  "-t",
                  "1",
                  "-m",
                  memory,
                  "-I",
                  item,
                  "-o",
                  "no_lru_maintainer,lru_crawler",
                  geteuid() == 0 ? "-u" : NULL,
                  "root",
                  NULL};
  process_add(&s->processes, label(s, stripe, "memcached", rank, name), argv, NULL,
              space_of(s, stripe_place(s, stripe, rank)));
}

/* The agents end first, so that acknowledged values are all that counts. A memcached ends after all
 * chunk servers, or one of these would report that it has lost it. */
void stripes_add(store *s, char *options[], int count) {
  unsigned nodes = store_nodes(s);
  for (unsigned stripe = 0; stripe < s->stripes; stripe++)
    add_agent(s, stripe, options, count);
  s->processes.stage++;
  for (unsigned stripe = 0; stripe < s->stripes; stripe++)
    for (unsigned rank = 1; rank <= nodes; rank++)
      add_chunk(s, stripe, rank);
  s->processes.stage++;
  for (unsigned stripe = 0; s->disk == 0 && stripe < s->stripes; stripe++)
    for (unsigned rank = 1; rank <= nodes; rank++)
      add_memcached(s, stripe, rank);
}

bool stripes_allowed(const store *s) {
  if (s->stripes == 1)
    return true;
  if (s->agent.listen.port != 0 || s->agent.fabric.port != 0)
    report("--stripes %llu: --listen and --fabric need port 0, because every stripe has an agent",
           s->stripes);
  else if (s->agent.trace != NULL)
    report("--stripes %llu: --trace allows one stripe", s->stripes);
  else
    return true;
  return false;
}

bool stripes_ready(const store *s, char *clients, size_t room) {
  char text[65536], folder[FILES_PATH];
  size_t at = 0;
  for (unsigned stripe = 0; stripe < s->stripes; stripe++) {
    stripe_folder(s, stripe, folder);
    int bytes = status_ask(folder, text, sizeof text);
    const char *state = status_find(text, bytes, "state");
    if (state == NULL || strcmp(state, "read-write") != 0 || !files_read(folder, "client", text))
      return false;
    text[strcspn(text, "\n")] = '\0';
    at += (size_t)snprintf(clients + at, room - at, "%s%s", at > 0 ? " " : "", text);
    if (at >= room)
      abort(); /* STRIPES_MAX addresses need less space */
  }
  return true;
}
