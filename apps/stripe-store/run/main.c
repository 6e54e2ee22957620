/* stripe-store: a complete store on this machine. See README.md. */
#include "agent/settings.h"
#include "common/report.h"
#include "network.h"
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

#define LOOPBACK "127.0.0.1"

static const char usage[] =
    "usage: stripe-store run [--keep MB] [--netns] [--no-restart] FOLDER [OPTIONS OF "
    "stripe-agent]\n"
    "       stripe-store status FOLDER\n"
    "       stripe-store stop FOLDER\n"
    "  run     start an agent, k + m chunk servers and their memcacheds on this machine; restart\n"
    "          processes that end; stop them all at SIGTERM or SIGINT. Prints \"ready HOST:PORT\"\n"
    "          when the store accepts values.\n"
    "          FOLDER is created if missing. All values are lost when the store stops.\n"
    "  status  print the agent's state; exit status 1 if values cannot be written now\n"
    "  stop    stop the store in FOLDER, and wait until it has stopped\n"
    "  --keep MB     memory of each memcached (64, or more if the largest value needs more)\n"
    "  --netns       each chunk server and its memcached in a network namespace of their own, and\n"
    "                the agent in another, joined by a bridge, instead of loopback; clients reach\n"
    "                the agent as before\n"
    "  --no-restart  do not restart processes that end\n"
    "exit status: 0 done; 1 status: not writable; 2 refused\n";

typedef struct run {
  const char *folder;
  char programs[FILES_PATH]; /* the folder of this program, which contains the others */
  settings agent;
  unsigned long long keep;
  bool restart, netns, ready, refused;
  struct event_base *base;
  processes processes;
  network network;
} run;

static int space_of(const run *r, unsigned rank) { return r->netns ? r->network.space[rank] : -1; }

static char *join(char *to, size_t room, const char *folder, const char *name) {
  snprintf(to, room, "%s/%s", folder, name);
  return to;
}

static void add_agent(run *r, char *options[], int count) {
  char program[FILES_PATH + 32], fabric[80], home[48], *argv[ARGUMENTS_MAX + 7];
  address at = r->agent.fabric;
  argv[0] = join(program, sizeof program, r->programs, "stripe-agent");
  memcpy(argv + 1, options, (size_t)count++ * sizeof *argv);
  if (r->netns) { /* its clients are in the namespace of this process */
    strcpy(at.host, NETWORK_AGENT);
    address_text(&at, fabric);
    snprintf(home, sizeof home, "/proc/%ld/ns/net", (long)getpid());
    char *const more[] = {"--fabric", fabric, "--listen-netns", home};
    memcpy(argv + count, more, sizeof more);
    count += 4;
  }
  argv[count++] = (char *)r->folder;
  argv[count] = NULL;
  process_add(&r->processes, "agent", argv, space_of(r, LAYOUT_AGENT));
}

static void add_chunk(run *r, unsigned rank) {
  char program[FILES_PATH + 32], name[32], number[16], host[NETWORK_ADDRESS] = LOOPBACK;
  snprintf(name, sizeof name, "chunk server %u", rank);
  snprintf(number, sizeof number, "%u", rank);
  if (r->netns)
    network_address(rank, host);
  char *argv[] = {join(program, sizeof program, r->programs, "stripe-chunk"),
                  number,
                  (char *)r->folder,
                  "--host",
                  host,
                  NULL};
  process_add(&r->processes, name, argv, space_of(r, rank));
}

/* -M makes a full memory an error and never a reason to evict. One thread, and no housekeeping,
 * which could disturb the listing of keys. */
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
  process_add(&r->processes, name, argv, space_of(r, rank));
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
    r->refused = true; /* it has printed the reason */
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

/* The other programs are in the folder of this one. */
static bool find_programs(run *r) {
  ssize_t bytes = readlink("/proc/self/exe", r->programs, sizeof r->programs - 1);
  if (bytes < 0)
    return false;
  r->programs[bytes] = '\0';
  *strrchr(r->programs, '/') = '\0';
  return true;
}

/* Parse the options before FOLDER. Return the number of these arguments; -1: invalid, with a
 * message. */
static int parse_own(run *r, int argc, char **argv) {
  int at = 0;
  for (; at < argc && argv[at][0] == '-'; at++) {
    if (strcmp(argv[at], "--no-restart") == 0) {
      r->restart = false;
    } else if (strcmp(argv[at], "--netns") == 0) {
      r->netns = true;
    } else if (strcmp(argv[at], "--keep") != 0 || at + 1 >= argc) {
      report("run: unknown option %s; those of stripe-agent come after FOLDER", argv[at]);
      return -1;
    } else if (!parse_number("--keep", argv[++at], 4, 1 << 20, &r->keep)) {
      return -1;
    }
  }
  if (at < argc && argc - at <= ARGUMENTS_MAX)
    return at;
  report("run: FOLDER is missing (--help)");
  return -1;
}

/* Parse FOLDER and the options of the agent. */
static bool parse_agent(run *r, int argc, char **argv) {
  char *agent[ARGUMENTS_MAX + 3] = {"stripe-agent"};
  r->folder = argv[0];
  memcpy(agent + 1, argv + 1, (size_t)(argc - 1) * sizeof *agent);
  agent[argc] = argv[0];
  if (!settings_parse(&r->agent, argc + 1, agent))
    return false;
  unsigned nodes = r->agent.layout.k + r->agent.layout.m;
  if (nodes > LAYOUT_SHARDS_MAX) {
    report("k + m = %u: at most %d", nodes, LAYOUT_SHARDS_MAX);
    return false;
  }
  if (!r->netns || (r->agent.listen_netns == NULL && strcmp(r->agent.fabric.host, LOOPBACK) == 0))
    return true;
  report("--netns: --fabric is " NETWORK_AGENT " then, and clients are where this is started");
  return false;
}

static void add_all(run *r, char **options, int count) {
  unsigned nodes = r->agent.layout.k + r->agent.layout.m;
  add_agent(r, options, count);
  for (unsigned rank = 1; rank <= nodes; rank++)
    add_chunk(r, rank);
  for (unsigned rank = 1; rank <= nodes; rank++)
    add_memcached(r, rank);
}

static int run_command(int argc, char **argv) {
  run r = {.restart = true};
  int at = parse_own(&r, argc, argv);
  if (at < 0 || !parse_agent(&r, argc - at, argv + at))
    return EXIT_REFUSED;
  unsigned nodes = r.agent.layout.k + r.agent.layout.m;
  int lock = find_programs(&r) ? folder_take(r.folder) : -1;
  if (lock < 0 || (r.netns && !network_make(&r.network, nodes)))
    return EXIT_REFUSED;
  folder_clean(r.folder, nodes);
  if (folder_forget(r.folder))
    report("%s: the last run was not stopped in order; its values are lost", r.folder);
  add_all(&r, argv + at + 1, argc - at - 1);
  r.base = event_base_new();
  int status = loop(&r);
  folder_clean(r.folder, nodes);
  folder_forget(r.folder);
  event_base_free(r.base);
  processes_free(&r.processes);
  if (r.netns)
    network_close(&r.network);
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
    return refuse("no source of random numbers");
  if (argc >= 3 && strcmp(argv[1], "run") == 0)
    return run_command(argc - 2, argv + 2);
  if (argc == 3 && strcmp(argv[1], "status") == 0)
    return status_print(argv[2]);
  if (argc == 3 && strcmp(argv[1], "stop") == 0)
    return stop_command(argv[2]);
  fputs(usage, stderr);
  return EXIT_REFUSED;
}
