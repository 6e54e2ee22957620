/* stripe-store: a complete store on this machine. See README.md. */
#include "agent/settings.h"
#include "common/options.h"
#include "common/report.h"
#include "network.h"
#include "run.h"
#include "streams.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 100, REST_TICKS = 10, AGENT_END = 250, ADDRESSES = STRIPES_MAX * 80 };

static const char usage[] =
    "usage: stripe-store run [--keep MB | --disk MB] [--stripes N] [--netns] [--no-restart]\n"
    "                        FOLDER [OPTIONS OF stripe-agent]\n"
    "       stripe-store status FOLDER\n"
    "       stripe-store stop FOLDER\n"
    "  run     start an agent, k + m chunk servers and their memcacheds on this machine; restart\n"
    "          processes that end; stop them all at SIGTERM or SIGINT. Prints \"ready HOST:PORT\"\n"
    "          when the store accepts values, with an address for each stripe.\n"
    "          FOLDER is created if missing. Without --disk, all values are\n"
    "          lost when the store stops.\n"
    "  status  print the agent's state; exit status 1 if values cannot be written now\n"
    "  stop    stop the store in FOLDER, and wait until it has stopped\n"
    "  --keep MB     memory of each memcached, such as 512 or 2G (64, or more if the largest "
    "value\n"
    "                needs more)\n"
    "  --disk MB     chunks on disk, in FOLDER/disk-1, ..., each with a database of at most MB,\n"
    "                instead of in memcacheds. The next run in FOLDER has the values of the last,\n"
    "                also after a power cut\n"
    "  --stripes N   N memory stripes (1), each with its own agent, chunk servers and memcacheds,\n"
    "                in FOLDER/stripe-0, ...; with --netns, rank R of stripe S is at node\n"
    "                (R + S) mod (k + m + 1). Clients distribute their keys\n"
    "  --netns       each chunk server and its memcached in a network namespace of their own, and\n"
    "                the agent in another, joined by a bridge, instead of loopback; clients reach\n"
    "                the agent as before\n"
    "  --no-restart  do not restart processes that end\n"
    "exit status: 0 done; 1 status: not writable; 2 refused\n";

typedef struct run {
  store store;
  bool restart, ready, refused, moved; /* moved: the folder's path is not its own any more */
  int lock;
  struct event_base *base;
  char line[ADDRESSES + 8]; /* for stdout, when the store is ready */
  size_t printed;           /* bytes of it */
} run;

static void look_whether_ready(run *r) {
  char clients[ADDRESSES];
  if (!stripes_ready(&r->store, clients, sizeof clients))
    return;
  r->ready = true;
  snprintf(r->line, sizeof r->line, "ready %s\n", clients);
}

static void on_tick(evutil_socket_t fd, short what, void *owner) {
  (void)fd;
  (void)what;
  run *r = owner;
  bool moved = !folder_ours(r->store.folder, r->lock);
  if (moved && !r->moved)
    report("%s is another folder now, or none: no process is started in it", r->store.folder);
  r->moved = moved;
  if (!moved)
    processes_tick(&r->store.processes, REST_TICKS);
  if (!r->ready)
    look_whether_ready(r);
  if (r->line[r->printed] != '\0')
    r->printed += report_output(r->line + r->printed);
}

static void on_child(evutil_socket_t fd, short what, void *owner) {
  (void)fd;
  (void)what;
  run *r = owner;
  if (processes_reap(&r->store.processes, !r->ready, r->restart ? REST_TICKS : 0) && !r->ready) {
    r->refused = true; /* the reason is printed */
    event_base_loopbreak(r->base);
  }
}

static void on_stop(evutil_socket_t fd, short what, void *owner) {
  (void)fd;
  (void)what;
  event_base_loopbreak(((run *)owner)->base);
}

/* nohup ignores SIGHUP, and a shell without job control SIGINT for a command with `&`: the next
 * Ctrl-C is not for it. */
static bool is_ignored(int number) {
  struct sigaction now;
  return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static int loop(run *r) {
  const struct timeval interval = {.tv_usec = TICK_MS * 1000};
  const int signals[] = {SIGTERM, SIGINT, SIGHUP};
  struct event *events[5];
  int count = 2;
  events[0] = event_new(r->base, -1, EV_PERSIST, on_tick, r);
  events[1] = evsignal_new(r->base, SIGCHLD, on_child, r);
  for (int i = 0; i < 3; i++)
    if (signals[i] == SIGTERM || !is_ignored(signals[i]))
      events[count++] = evsignal_new(r->base, signals[i], on_stop, r);
  for (int i = 0; i < count; i++)
    event_add(events[i], i == 0 ? &interval : NULL);
  bool started = true;
  for (unsigned i = 0; started && i < r->store.processes.count; i++)
    started = process_start(&r->store.processes.at[i]);
  if (started)
    event_base_dispatch(r->base);
  processes_stop(&r->store.processes);
  for (int i = 0; i < count; i++)
    event_free(events[i]);
  return started && !r->refused ? EXIT_DONE : EXIT_REFUSED;
}

/* The other programs are in the folder of this one. */
static bool find_programs(run *r) {
  ssize_t bytes = readlink("/proc/self/exe", r->store.programs, sizeof r->store.programs - 1);
  if (bytes < 0)
    return false;
  r->store.programs[bytes] = '\0';
  *strrchr(r->store.programs, '/') = '\0';
  return true;
}

static bool find_memcached(void) {
  char path[FILES_PATH];
  const char *at = getenv("PATH");
  while (at != NULL && *at != '\0') {
    int length = (int)strcspn(at, ":");
    snprintf(path, sizeof path, "%.*s/memcached", length, at);
    if (access(path, X_OK) == 0)
      return true;
    at += length + (at[length] == ':');
  }
  report("memcached is not in PATH; install it, for example by apt-get install memcached");
  return false;
}

/* Parse the value of an option before FOLDER. */
static bool parse_value(store *s, const char *option, const char *value) {
  if (strcmp(option, "--stripes") == 0)
    return parse_number(option, value, 1, STRIPES_MAX, &s->stripes);
  if (strcmp(option, "--disk") == 0)
    return parse_megabytes(option, value, 1, 1 << 24, &s->disk);
  return parse_megabytes(option, value, 4, 1 << 20, &s->keep);
}

/* Parse the options before FOLDER. Return the number of these arguments; -1: invalid, with a
 * message. */
static int parse_own(run *r, int argc, char **argv) {
  int at = 0;
  for (; at < argc && argv[at][0] == '-'; at++) {
    const char *option = argv[at];
    if (strcmp(option, "--no-restart") == 0) {
      r->restart = false;
    } else if (strcmp(option, "--netns") == 0) {
      r->store.netns = true;
    } else if (strcmp(option, "--stripes") != 0 && strcmp(option, "--disk") != 0 &&
               strcmp(option, "--keep") != 0) {
      report("run: unknown option %s; those of stripe-agent come after FOLDER", option);
      return -1;
    } else if (++at >= argc) {
      report("run: %s: the value is missing (see --help)", option);
      return -1;
    } else if (!parse_value(&r->store, option, argv[at])) {
      return -1;
    }
  }
  if (r->store.disk > 0 && r->store.keep > 0) {
    report("--disk and --keep: only one of them is allowed");
    return -1;
  }
  if (at < argc && argc - at <= ARGUMENTS_MAX)
    return at;
  report("run: FOLDER is missing (--help)");
  return -1;
}

/* Parse FOLDER and the options of the agent. */
static bool parse_agent(run *r, int argc, char **argv) {
  char *agent[ARGUMENTS_MAX + 3] = {"stripe-agent"};
  r->store.folder = argv[0];
  memcpy(agent + 1, argv + 1, (size_t)(argc - 1) * sizeof *agent);
  agent[argc] = argv[0];
  if (!settings_parse(&r->store.agent, argc + 1, agent))
    return false;
  if (!r->store.netns ||
      (r->store.agent.listen_netns == NULL && strcmp(r->store.agent.fabric.host, "127.0.0.1") == 0))
    return true;
  report("--netns: --fabric is " NETWORK_AGENT " then, and clients are where this is started");
  return false;
}

static void clean(const store *s) {
  char folder[FILES_PATH];
  for (unsigned stripe = 0; stripe < s->stripes; stripe++)
    if (stripe_folder(s, stripe, folder))
      folder_clean(folder, store_nodes(s));
}

/* Does an agent run in the folder? That of a killed run gets time to end. */
static bool agent_runs(const char *folder) {
  const struct timespec step = {.tv_nsec = 20000000};
  for (int i = 0; i < AGENT_END; i++) {
    int lock = files_lock(folder, "agent.lock");
    bool held = lock < 0 && errno == EWOULDBLOCK;
    if (lock >= 0)
      close(lock);
    if (!held)
      return false;
    nanosleep(&step, NULL);
  }
  report("%s: an agent runs in it already", folder);
  return true;
}

/* With another number of stripes, clients would not find the values on disk. */
static bool check_stripes(const store *s) {
  store one = {.folder = s->folder, .stripes = 1}, many = {.folder = s->folder, .stripes = 2};
  char first[FILES_PATH], next[FILES_PATH];
  if (!stripe_folder(&one, 0, first) ||
      !stripe_folder(&many, s->stripes == 1 ? 0 : (unsigned)s->stripes, next))
    return false;
  if (s->stripes > 1 && folder_durable(first))
    report("%s has values on disk in one stripe: leave out --stripes", s->folder);
  else if (folder_durable(next))
    report("%s has values on disk in more stripes: use the --stripes of before", s->folder);
  else
    return true;
  return false;
}

/* Create the folders of the stripes, without the files of the last run. */
static bool make_folders(const store *s) {
  char folder[FILES_PATH];
  if (!check_stripes(s))
    return false;
  for (unsigned stripe = 0; stripe < s->stripes; stripe++) {
    if (!stripe_folder(s, stripe, folder) || !folder_make(folder))
      return false;
    bool durable = folder_durable(folder);
    if (durable && s->disk == 0) {
      report("%s has values on disk: use --disk, or remove it", folder);
      return false;
    }
    if (!durable && s->disk > 0 && folder_formed(folder)) {
      report("%s has a group, but no disk-1 to disk-%u: bring them back, or remove %s/group if its "
             "values are lost",
             folder, store_nodes(s), folder);
      return false;
    }
    if (agent_runs(folder) || !folder_guarded_disks(folder, store_nodes(s)))
      return false;
    if (!durable && folder_retire(folder))
      report("%s: the last run was not stopped in order; its values are lost", folder);
  }
  clean(s);
  return true;
}

static void forget_all(const store *s) {
  char folder[FILES_PATH];
  clean(s);
  for (unsigned stripe = 0; s->disk == 0 && stripe < s->stripes; stripe++)
    if (stripe_folder(s, stripe, folder))
      folder_forget(folder);
}

/* Remove the folder that a refused run has created. */
static void remove_folders(const store *s) {
  char folder[FILES_PATH];
  for (unsigned stripe = 0; s->stripes > 1 && stripe < s->stripes; stripe++)
    if (stripe_folder(s, stripe, folder))
      folder_remove(folder, store_nodes(s));
  folder_remove(s->folder, store_nodes(s));
}

/* Start the processes, and run until they are stopped. */
static int run_all(run *r, char *options[], int count) {
  store *s = &r->store;
  if (!make_folders(s) || (s->netns && !network_make(&s->network, store_nodes(s))))
    return EXIT_REFUSED;
  stripes_add(s, options, count);
  r->base = event_base_new();
  int status = loop(r);
  if (folder_ours(s->folder, r->lock))
    forget_all(s);
  else
    report("%s is another folder now: nothing in it is removed", s->folder);
  event_base_free(r->base);
  processes_free(&s->processes);
  if (s->netns)
    network_close(&s->network);
  return status;
}

static int run_command(int argc, char **argv) {
  run r = {.restart = true, .store = {.stripes = 1}};
  store *s = &r.store;
  int at = parse_own(&r, argc, argv);
  if (at < 0 || !parse_agent(&r, argc - at, argv + at) || !stripes_allowed(s))
    return EXIT_REFUSED;
  bool created = false;
  r.lock = find_programs(&r) && (s->disk > 0 || find_memcached()) ? folder_take(s->folder, &created)
                                                                  : -1;
  if (r.lock < 0)
    return EXIT_REFUSED;
  int status = run_all(&r, argv + at + 1, argc - at - 1);
  if (status == EXIT_REFUSED && created && folder_ours(s->folder, r.lock))
    remove_folders(s);
  close(r.lock);
  return status;
}

static int stop_command(const char *folder) {
  const struct timespec step = {.tv_nsec = 20000000};
  if (!option_folder(folder) || !files_guarded(folder))
    return EXIT_REFUSED;
  pid_t pid = folder_holder(folder);
  if (pid == 0)
    return refuse("%s: no store runs in it", folder);
  if (kill(pid, SIGTERM) != 0)
    return refuse("%s: process %ld cannot be stopped", folder, (long)pid);
  kill(pid, SIGCONT); /* so that a stopped process can end, too */
  while (folder_holder(folder) == pid)
    nanosleep(&step, NULL);
  return EXIT_DONE;
}

/* The states of all stripes; the status of the first that is not writable. */
static int status_command(const char *folder) {
  char part[FILES_PATH], text[FILES_TEXT];
  store s = {.folder = folder, .stripes = STRIPES_MAX};
  int status = EXIT_DONE;
  if (!option_folder(folder))
    return EXIT_REFUSED;
  for (unsigned stripe = 0; stripe < STRIPES_MAX; stripe++) {
    if (!stripe_folder(&s, stripe, part) || !files_read(part, "client", text))
      return stripe == 0 ? status_print(folder) : status;
    printf("%sstripe %u\n", stripe == 0 ? "" : "\n", stripe);
    int one = status_print(part);
    status = status == EXIT_DONE ? one : status;
  }
  return status;
}

static bool is_command(const char *word) {
  return strcmp(word, "run") == 0 || strcmp(word, "status") == 0 || strcmp(word, "stop") == 0;
}

int main(int argc, char **argv) {
  report_name("stripe-store");
  if (!streams_occupy())
    return refuse("cannot open /dev/null: %s", strerror(errno));
  report_survive();
  if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    fputs(usage, stdout);
    return EXIT_DONE;
  }
  if (sodium_init() < 0)
    return refuse("no source of random numbers");
  if (argc >= 3 && strcmp(argv[1], "run") == 0)
    return run_command(argc - 2, argv + 2);
  if (argc == 3 && strcmp(argv[1], "status") == 0)
    return status_command(argv[2]);
  if (argc == 3 && strcmp(argv[1], "stop") == 0)
    return stop_command(argv[2]);
  if (argc >= 2 && is_command(argv[1]))
    return refuse("%s: %d arguments; allowed: %s FOLDER (see --help)", argv[1], argc - 2, argv[1]);
  return refuse("%s; allowed: run FOLDER, status FOLDER, stop FOLDER (see --help)",
                argc < 2 ? "no command" : argv[1]);
}
