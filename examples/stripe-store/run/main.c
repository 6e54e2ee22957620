/* stripe-store: a whole store on this machine. See README.md. */
#include "agent/settings.h"
#include "common/report.h"
#include "run.h"

#include <event2/event.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 100, REST_TICKS = 10, ITEM_LEAST = 1 << 20 };

static const char usage[] =
    "usage: stripe-store run [--keep MB] [--no-restart] FOLDER [OPTIONS OF stripe-agent]\n"
    "       stripe-store status FOLDER\n"
    "       stripe-store stop FOLDER\n"
    "  run     start an agent, k + m chunk servers and their memcacheds on this machine; start "
    "again what\n"
    "          ends; stop them all at SIGTERM or SIGINT. Prints \"ready HOST:PORT\" when it takes "
    "values.\n"
    "          FOLDER is made if it is not there. What is stored is gone when it stops.\n"
    "  status  what the agent says of itself; exit status 1 if values cannot be written now\n"
    "  stop    stop what runs in FOLDER, and wait for that\n"
    "  --keep MB     memory of each memcached (64, or more if the largest value needs it)\n"
    "  --no-restart  leave alone what ends\n"
    "exit status: 0 done; 1 status: not writable; 2 refused\n";

typedef struct run {
  const char *folder;
  char programs[FILES_PATH]; /* the folder of this program has the others */
  settings agent;
  unsigned long long keep;
  bool restart, ready, refused;
  struct event_base *base;
  processes processes;
} run;

static char *join(char *to, size_t room, const char *folder, const char *name) {
  snprintf(to, room, "%s/%s", folder, name);
  return to;
}

static void add_agent(run *r, char *options[], int count) {
  char program[FILES_PATH + 32], *argv[ARGUMENTS_MAX + 3];
  argv[0] = join(program, sizeof program, r->programs, "stripe-agent");
  memcpy(argv + 1, options, (size_t)count * sizeof *argv);
  argv[count + 1] = (char *)r->folder;
  argv[count + 2] = NULL;
  process_add(&r->processes, "agent", argv);
}

static void add_chunk(run *r, unsigned rank) {
  char program[FILES_PATH + 32], name[32], number[16];
  snprintf(name, sizeof name, "chunk server %u", rank);
  snprintf(number, sizeof number, "%u", rank);
  char *argv[] = {join(program, sizeof program, r->programs, "stripe-chunk"), number,
                  (char *)r->folder, NULL};
  process_add(&r->processes, name, argv);
}

/* -M: full is an error and never a reason to evict. One thread; no housekeeping that could be in
 * the way of listing the keys. */
static void add_memcached(run *r, unsigned rank) {
  char name[32], file[32], socket[FILES_PATH + 32], memory[32], item[32];
  uint64_t largest = r->agent.value_max / r->agent.layout.k + 4096;
  uint64_t least = 4 * (largest < ITEM_LEAST ? ITEM_LEAST : largest) >> 20;
  uint64_t keep = r->keep > 0 ? r->keep : least < 64 ? 64 : least;
  snprintf(name, sizeof name, "memcached %u", rank);
  snprintf(file, sizeof file, "memcached-%u", rank);
  snprintf(memory, sizeof memory, "%llu", (unsigned long long)keep);
  snprintf(item, sizeof item, "%llu",
           (unsigned long long)(largest < ITEM_LEAST ? ITEM_LEAST : largest));
  char *argv[] = {"memcached",
                  "-s",
                  join(socket, sizeof socket, r->folder, file),
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
  process_add(&r->processes, name, argv);
}

static void announce_ready(run *r) {
  char text[65536];
  int bytes = status_ask(r->folder, text, sizeof text);
  const char *state = status_find(text, bytes, "state");
  if (state == NULL || strcmp(state, "read-write") != 0 || !files_read(r->folder, "client", text))
    return;
  r->ready = true;
  printf("ready %s", text);
  fflush(stdout);
}

static void on_tick(evutil_socket_t fd, short what, void *owner) {
  (void)fd;
  (void)what;
  run *r = owner;
  processes_tick(&r->processes);
  if (!r->ready)
    announce_ready(r);
}

static void on_child(evutil_socket_t fd, short what, void *owner) {
  (void)fd;
  (void)what;
  run *r = owner;
  if (processes_reap(&r->processes, r->restart && r->ready, REST_TICKS) && !r->ready) {
    r->refused = true; /* it has said why */
    event_base_loopbreak(r->base);
  }
}

static void on_stop(evutil_socket_t fd, short what, void *owner) {
  (void)fd;
  (void)what;
  event_base_loopbreak(((run *)owner)->base);
}

static int loop(run *r) {
  const struct timeval interval = {.tv_usec = TICK_MS * 1000};
  const int signals[] = {SIGTERM, SIGINT, SIGHUP};
  struct event *events[5];
  for (int i = 0; i < 3; i++)
    events[i] = evsignal_new(r->base, signals[i], on_stop, r);
  events[3] = evsignal_new(r->base, SIGCHLD, on_child, r);
  events[4] = event_new(r->base, -1, EV_PERSIST, on_tick, r);
  for (int i = 0; i < 4; i++)
    event_add(events[i], NULL);
  event_add(events[4], &interval);
  bool started = true;
  for (unsigned i = 0; started && i < r->processes.count; i++)
    started = process_start(&r->processes.at[i]);
  if (started)
    event_base_dispatch(r->base);
  processes_stop(&r->processes);
  for (int i = 0; i < 5; i++)
    event_free(events[i]);
  return started && !r->refused ? EXIT_DONE : EXIT_REFUSED;
}

/* Where this program is, the others are. */
static bool find_programs(run *r) {
  ssize_t bytes = readlink("/proc/self/exe", r->programs, sizeof r->programs - 1);
  if (bytes < 0)
    return false;
  r->programs[bytes] = '\0';
  *strrchr(r->programs, '/') = '\0';
  return true;
}

static int run_command(int argc, char **argv) {
  run r = {.restart = true};
  char *agent[ARGUMENTS_MAX + 3] = {"stripe-agent"};
  int at = 0;
  for (; at < argc && argv[at][0] == '-'; at++) {
    if (strcmp(argv[at], "--no-restart") == 0)
      r.restart = false;
    else if (strcmp(argv[at], "--keep") != 0 || at + 1 >= argc)
      return refuse("run: unknown option %s; those of stripe-agent come after FOLDER", argv[at]);
    else if (!parse_number("--keep", argv[++at], 4, 1 << 20, &r.keep))
      return EXIT_REFUSED;
  }
  if (at >= argc || argc - at > ARGUMENTS_MAX)
    return refuse("run: FOLDER is missing (--help)");
  r.folder = argv[at++];
  memcpy(agent + 1, argv + at, (size_t)(argc - at) * sizeof *agent);
  agent[argc - at + 1] = (char *)r.folder;
  if (!settings_parse(&r.agent, argc - at + 2, agent))
    return EXIT_REFUSED;
  unsigned nodes = r.agent.layout.k + r.agent.layout.m;
  if (nodes > LAYOUT_SHARDS_MAX)
    return refuse("k + m = %u: at most %d", nodes, LAYOUT_SHARDS_MAX);
  int lock = find_programs(&r) ? folder_take(r.folder) : -1;
  if (lock < 0)
    return EXIT_REFUSED;
  folder_clean(r.folder, nodes);
  add_agent(&r, argv + at, argc - at);
  for (unsigned rank = 1; rank <= nodes; rank++)
    add_chunk(&r, rank);
  for (unsigned rank = 1; rank <= nodes; rank++)
    add_memcached(&r, rank);
  r.base = event_base_new();
  int status = loop(&r);
  folder_clean(r.folder, nodes);
  folder_forget(r.folder);
  event_base_free(r.base);
  processes_free(&r.processes);
  close(lock);
  return status;
}

static int stop_command(const char *folder) {
  const struct timespec step = {.tv_nsec = 20000000};
  pid_t pid = folder_holder(folder);
  if (pid == 0)
    return refuse("%s: no store runs in it", folder);
  if (kill(pid, SIGTERM) != 0)
    return refuse("%s: process %ld cannot be stopped", folder, (long)pid);
  while (folder_holder(folder) == pid)
    nanosleep(&step, NULL);
  return EXIT_DONE;
}

int main(int argc, char **argv) {
  report_name("stripe-store");
  if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    fputs(usage, stdout);
    return EXIT_DONE;
  }
  if (sodium_init() < 0)
    return refuse("no random numbers");
  if (argc >= 3 && strcmp(argv[1], "run") == 0)
    return run_command(argc - 2, argv + 2);
  if (argc == 3 && strcmp(argv[1], "status") == 0)
    return status_print(argv[2]);
  if (argc == 3 && strcmp(argv[1], "stop") == 0)
    return stop_command(argv[2]);
  fputs(usage, stderr);
  return EXIT_REFUSED;
}
