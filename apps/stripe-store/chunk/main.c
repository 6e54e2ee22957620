/* stripe-chunk: a chunk server, which uses a running memcached. See README.md. */
#include "common/fault.h"
#include "common/files.h"
#include "common/options.h"
#include "common/rekey.h"
#include "common/report.h"
#include "common/stop.h"
#include "connection.h"
#include "disk.h"
#include "job.h"
#include "memory.h"
#include "request.h"
#include "streams.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char usage[] =
    "usage: stripe-chunk [options] RANK FOLDER\n"
    "  RANK               1 to k + m\n"
    "  FOLDER             contains `key`, and `agent` once the agent runs\n"
    "  --memcached PATH   Unix socket of its memcached (FOLDER/memcached-RANK)\n"
    "  --disk FOLDER      keep the chunks in this folder instead of a memcached; a write is\n"
    "                     acknowledged when it is on disk\n"
    "  --disk-max MB      the most that FOLDER/chunks may have, 1 to 16777216, such as 512\n"
    "                     or 10G (16777216)\n"
    "  --again            the database must be there, since this is not the first start: wait "
    "for it\n"
    "  --host ADDRESS     numeric address for the other chunk servers (127.0.0.1)\n"
    "  --timeout MS       timeout of a call to memcached, 10 to 60000 (2000)\n"
    "  --provider NAME    libfabric provider (tcp)\n"
    "  --trace FOLDER     append a line for each operation to the file RANK in FOLDER\n"
    "  -h, --help         this text\n"
    "exit status: 0 stopped by SIGTERM or SIGINT; 2 refused\n";

typedef struct settings {
  const char *folder, *memcached, *disk, *host, *provider, *trace;
  unsigned long long rank, timeout_ms, disk_max;
  bool again;
} settings;

static const struct option long_options[] = {
    {"memcached", required_argument, NULL, 'm'},
    {"disk", required_argument, NULL, 'd'},
    {"disk-max", required_argument, NULL, 'D'},
    {"again", no_argument, NULL, 'a'},
    {"host", required_argument, NULL, 'H'},
    {"timeout", required_argument, NULL, 't'},
    {"provider", required_argument, NULL, 'p'},
    {"trace", required_argument, NULL, 'T'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool parse(settings *o, int argc, char **argv) {
  int flag;
  while ((flag = option_next(argc, argv, ":h", long_options)) != -1) {
    switch (flag) {
    case 'm':
      o->memcached = optarg;
      break;
    case 'd':
      o->disk = optarg;
      break;
    case 'D':
      if (!parse_megabytes("--disk-max", optarg, 1, DISK_MOST, &o->disk_max))
        return false;
      break;
    case 'a':
      o->again = true;
      break;
    case 'H':
      o->host = optarg;
      break;
    case 'p':
      o->provider = optarg;
      break;
    case 't':
      if (!parse_number("--timeout", optarg, 10, 60000, &o->timeout_ms))
        return false;
      break;
    case 'T':
      o->trace = optarg;
      break;
    case 'h':
      fputs(usage, stdout);
      exit(EXIT_DONE);
    default:
      return false; /* OPTION_WRONG */
    }
  }
  if (argc - optind != 2) {
    report("RANK and FOLDER are needed (--help)");
    return false;
  }
  if (o->disk != NULL && o->memcached != NULL) {
    report("--disk and --memcached: only one of them is allowed");
    return false;
  }
  o->folder = argv[optind + 1];
  return option_folder(o->folder) &&
         parse_number("RANK", argv[optind], 1, LAYOUT_SHARDS_MAX, &o->rank);
}

static void on_tick(evutil_socket_t fd, short what, void *owner) {
  (void)fd;
  (void)what;
  connection_tick(owner);
}

static void on_link(void *owner, uint16_t rank, bool up) { connection_link(owner, rank, up); }

/* It may have been an introduction of another chunk server, which the agent repeats after a
 * greeting.
 */
static void on_lost(void *owner, uint16_t rank) {
  server *s = owner;
  if (rank == LAYOUT_AGENT)
    s->greeted = false;
}

static void on_message(void *owner, uint16_t rank, const message *m) {
  request_handle(owner, rank, m);
}

static bool open_net(server *s, const settings *o) {
  keys k;
  char reason[GFSMITH_REASON_MAX] = "";
  net_options options = {.rank = s->rank,
                         .host = o->host,
                         .keys = &k,
                         .provider = o->provider,
                         .deadline_ms = 10000,
                         .trace = s->trace};
  const net_events events = {on_link, on_message, on_lost, s};
  if (!keys_read(&k, s->folder))
    return false;
  bool done = net_open(&s->net, s->base, &options, &events, reason);
  keys_erase(&k);
  if (!done)
    report("cannot take part: %s", reason);
  return done;
}

static void run(server *s) {
  const struct timeval interval = {.tv_usec = 100000};
  s->tick = event_new(s->base, -1, EV_PERSIST, on_tick, s);
  if (s->tick == NULL || event_add(s->tick, &interval) != 0)
    out_of_memory();
  connection_tick(s);
  rekey hangup;
  rekey_begin(&hangup, s->base, s->net, s->folder);
  event_base_dispatch(s->base);
  rekey_end(&hangup);
  event_free(s->tick);
}

int main(int argc, char **argv) {
  char path[FILES_PATH], name[32];
  settings o = {.host = "127.0.0.1", .timeout_ms = 2000, .disk_max = DISK_MOST};
  report_name("stripe-chunk");
  if (!streams_occupy())
    return refuse("cannot open /dev/null: %s", strerror(errno));
  report_survive();
  if (!parse(&o, argc, argv) || !files_guarded(o.folder) ||
      (o.disk != NULL && !files_guarded(o.disk)))
    return EXIT_REFUSED;
  umask(S_IRWXG | S_IRWXO); /* SQLite's files have the values */
  files_hold(o.folder);
  snprintf(name, sizeof name, "stripe-chunk %llu", o.rank);
  report_name(name);
  snprintf(path, sizeof path, "memcached-%llu", o.rank);
  char fallback[FILES_PATH];
  if (!files_path(fallback, o.folder, path))
    return refuse("%s: too long", o.folder);
  if (sodium_init() < 0)
    return refuse("no source of random numbers");
  rekey_hold();
  server s = {.folder = o.folder,
              .rank = (uint16_t)o.rank,
              .base = event_base_new(),
              .drop_jobs = job_drop_all};
  if (s.base == NULL)
    out_of_memory();
  snprintf(s.host, sizeof s.host, "%s", o.host);
  if (o.disk != NULL)
    s.kept = disk_create(o.disk, o.disk_max, o.again, &s);
  else
    s.kept =
        memory_create(o.memcached != NULL ? o.memcached : fallback, (unsigned)o.timeout_ms, &s);
  stop signals;
  stop_begin(&signals, s.base);
  snprintf(path, sizeof path, "chunk-%llu", o.rank);
  fault_begin(o.folder, path);
  int status = EXIT_REFUSED;
  if (trace_open(&s.trace, o.trace, s.rank) && open_net(&s, &o)) {
    run(&s);
    status = EXIT_DONE;
  }
  stop_end(&signals);
  kept_disconnect(s.kept);
  job_let_go(&s);
  net_close(s.net);
  trace_close(s.trace);
  job_forget_all(&s);
  kept_list_free(&s.list);
  if (s.watch != NULL)
    event_free(s.watch);
  kept_destroy(s.kept);
  layout_destroy(s.layout);
  event_base_free(s.base);
  return status;
}
