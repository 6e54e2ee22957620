/* stripe-agent: the agent of one memory stripe. See README.md. */
#include "call.h"
#include "client.h"
#include "command.h"
#include "common/fault.h"
#include "common/files.h"
#include "common/rekey.h"
#include "common/report.h"
#include "common/space.h"
#include "common/stop.h"
#include "expire.h"
#include "flush.h"
#include "index.h"
#include "lock.h"
#include "login.h"
#include "membership.h"
#include "node.h"
#include "recover.h"
#include "settings.h"
#include "streams.h"
#include "tls.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Descriptors for other purposes than clients: in all, and for each chunk server. */
enum { OWN_FILES = 64, LINK_FILES = 8 };

static void on_link(void *owner, uint16_t rank, bool up) { membership_link(owner, rank, up); }

static void on_lost(void *owner, uint16_t rank) { membership_lost(owner, rank); }

static void on_message(void *owner, uint16_t rank, const message *m) {
  agent *a = owner;
  if (rank == LAYOUT_AGENT || rank > agent_nodes(a))
    return;
  switch (m->type) {
  case MESSAGE_HELLO:
    membership_hello(a, rank, m);
    break;
  case MESSAGE_ANSWER:
    call_answer(a, rank, m);
    break;
  case MESSAGE_LISTED:
    membership_listed(a, rank, m);
    break;
  case MESSAGE_GONE:
    membership_gone(a, rank, "cannot reach its chunks");
    break;
  default:
    break;
  }
}

static void on_tick(evutil_socket_t fd, short what, void *owner) {
  (void)fd;
  (void)what;
  if (agent_tick(owner))
    membership_renew(owner);
  membership_tick(owner);
  flush_tick(owner);
  expire_tick(owner);
  clients_tick(owner);
}

/* Lock the folder: a second agent in it would take the chunk servers away from the first. */
static bool lock_folder(const char *folder) {
  if (files_lock(folder, "agent.lock") >= 0)
    return true; /* open until the process ends */
  report("%s/agent.lock: %s", folder,
         errno == EWOULDBLOCK ? "another agent runs" : strerror(errno));
  return false;
}

/* Load the group of this folder, and begin a new epoch. */
static bool load_group(agent *a) {
  char code[LAYOUT_TEXT];
  unsigned shards = layout_shards(a->layout);
  layout_code(layout_get(a->layout), code);
  if (!group_load(&a->group, a->folder, shards))
    return false;
  if (a->group.formed && strcmp(a->group.code, code) != 0) {
    report("%s has values in the code %s, not %s", a->folder, a->group.code, code);
    return false;
  }
  strcpy(a->group.code, code);
  a->closed = a->group.flushing; /* chunk servers delete all that they have: no value is there */
  return agent_begin_epoch(a);
}

static bool announce(const char *folder, const char *name, const char *where) {
  char text[96];
  snprintf(text, sizeof text, "%s\n", where);
  if (files_write(folder, name, text, 0644) == FILES_WRITTEN)
    return true;
  report("cannot write %s/%s: %s", folder, name, strerror(errno));
  return false;
}

static bool open_net(agent *a, const settings *o) {
  keys k;
  char reason[GFSMITH_REASON_MAX] = "", where[80];
  net_options options = {.rank = LAYOUT_AGENT,
                         .host = o->fabric.host,
                         .port = o->fabric.port,
                         .keys = &k,
                         .provider = o->provider,
                         .deadline_ms = a->deadline_ms,
                         .trace = a->trace};
  const net_events events = {on_link, on_message, on_lost, a};
  if (!keys_read(&k, a->folder))
    return false;
  bool done = net_open(&a->net, a->base, &options, &events, reason);
  keys_erase(&k);
  if (!done) {
    report("cannot take part: %s", reason);
    return false;
  }
  address at = o->fabric;
  at.port = gfsmith_node_port(net_node(a->net));
  address_text(&at, where);
  return announce(a->folder, "agent", where);
}

/* The port of the last agent in this folder, at the same address; 0: none. */
static unsigned short last_port(const agent *a, const settings *o) {
  char text[FILES_TEXT];
  address last;
  if (!files_read(a->folder, "client", text))
    return 0;
  text[strcspn(text, "\n")] = '\0';
  return address_parse(&last, text) && strcmp(last.host, o->listen.host) == 0 ? last.port : 0;
}

/* An agent that is started again listens where its clients expect it, unless the port is taken. */
static bool listen_here(agent *a, const settings *o, char where[80]) {
  unsigned short last = o->listen.port == 0 ? last_port(a, o) : 0;
  return (last != 0 && clients_listen(a, o->listen.host, last, where)) ||
         clients_listen(a, o->listen.host, o->listen.port, where);
}

/* Listen in another network namespace: accepted connections belong to the namespace of the
 * listening socket. */
static bool listen_in(agent *a, const settings *o, char where[80]) {
  if (o->listen_netns == NULL)
    return listen_here(a, o, where);
  int here = space_here();
  if (here < 0 || !space_enter_file(o->listen_netns)) {
    report("--listen-netns %s: %s", o->listen_netns, strerror(errno));
    return false;
  }
  bool done = listen_here(a, o, where);
  if (!space_enter(here))
    abort(); /* otherwise no chunk server would be found */
  close(here);
  return done;
}

static bool open_clients(agent *a, const settings *o) {
  char where[80];
  if (!clients_listen_local(a) || !listen_in(a, o, where) || !announce(a->folder, "client", where))
    return false;
  report("listening on %s", where);
  return true;
}

static void run(agent *a) {
  const struct timeval interval = {.tv_usec = 100000};
  a->tick = event_new(a->base, -1, EV_PERSIST, on_tick, a);
  if (a->tick == NULL || event_add(a->tick, &interval) != 0)
    out_of_memory();
  rekey hangup;
  rekey_begin(&hangup, a->base, a->net, a->folder);
  event_base_dispatch(a->base);
  rekey_end(&hangup);
  event_free(a->tick);
}

static void close_all(agent *a) {
  calls_let_go(a);
  net_close(a->net);
  trace_close(a->trace);
  clients_close(a);
  calls_free(a);
  locks_free(a);
  for (unsigned rank = 1; rank < RANKS; rank++)
    node_forget_lists(&a->nodes[rank]);
  recover_stop(a);
  index_clear(a);
  layout_destroy(a->layout);
  failures_destroy(a->failures);
  tls_close(a);
  event_base_free(a->base);
}

/* Clients must leave the descriptors that chunk servers, files and `local` need. */
static void limit_clients(agent *a) {
  struct rlimit limit;
  rlim_t own = OWN_FILES + LINK_FILES * agent_nodes(a), wanted = own + a->clients_max;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
    return;
  limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
    return;
  a->clients_max = limit.rlim_cur > own ? (unsigned)(limit.rlim_cur - own) : 1;
  report("accepts at most %u clients, because it may open only %llu files (ulimit -n)",
         a->clients_max, (unsigned long long)limit.rlim_cur);
}

static bool prepare(agent *a, const settings *o) {
  char reason[GFSMITH_REASON_MAX] = "";
  if (!layout_create(&a->layout, &o->layout, reason)) {
    report("%s", reason);
    return false;
  }
  for (uint16_t rank = 0; rank < RANKS; rank++)
    a->nodes[rank] = (node){.agent = a, .rank = rank};
  if (o->degraded != NULL &&
      !failures_create(&a->failures, o->degraded,
                       o->layout.m < o->layout.k ? o->layout.m : o->layout.k, o->seed)) {
    report("--degraded %s: must be weibull:SHAPE:RATE or weibull:SHAPE:RATE:LOST, shape 0.1 to 10, "
           "rate 0 to 1",
           o->degraded);
    return false;
  }
  limit_clients(a);
  if (o->auth && !login_open(a))
    return false;
  if (o->tls && !tls_open(a))
    return false;
  return trace_open(&a->trace, o->trace, LAYOUT_AGENT) && lock_folder(a->folder) && load_group(a);
}

int main(int argc, char **argv) {
  settings o;
  report_name("stripe-agent");
  if (!streams_occupy())
    return refuse("cannot open /dev/null: %s", strerror(errno));
  report_survive();
  if (!settings_parse(&o, argc, argv) || !files_guarded(o.folder))
    return EXIT_REFUSED;
  files_hold(o.folder);
  if (sodium_init() < 0)
    return refuse("no source of random numbers");
  rekey_hold();
  agent a = {
      .folder = o.folder,
      .base = event_base_new(),
      .events = {.silent = membership_silent, .unsure = membership_unsure, .request = command_run},
      .auth = o.auth,
      .value_max = o.value_max,
      .memory_max = o.memory_max,
      .deadline_ms = o.deadline_ms,
      .clients_max = o.clients_max,
      .idle_s = o.idle_s,
      .stall_s = o.stall_s};
  if (a.base == NULL)
    out_of_memory();
  randombytes_buf(&a.start, sizeof a.start);
  stop signals;
  stop_begin(&signals, a.base);
  fault_begin(o.folder, "agent");
  int status = EXIT_REFUSED;
  if (prepare(&a, &o) && open_net(&a, &o) && open_clients(&a, &o)) {
    run(&a);
    status = EXIT_DONE;
  }
  stop_end(&signals);
  close_all(&a);
  return status;
}
