#include "network.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_PORT = 10000 };

typedef struct inbox {
  struct link *link;
  gfsmith_node *owner;
  uint16_t from; /* rank of the peer */
  frame *first, **last;
  uint64_t latest; /* time of the last frame */
} inbox;

typedef struct link {
  inbox side[2];
  bool cut;
  struct link *next;
} link;

static const network_events *events;
static gfsmith_node *nodes;
static link *links;
static uint16_t ports = FIRST_PORT;
static unsigned blocks[MACHINES][MACHINES];
static uint64_t slowest; /* delay of most frames */

static const char *const names[] = {"up", "down", "message", "grant", "data", "landed", "refuse"};

static void lose(gfsmith_node *node, uint16_t rank);
static void plan(gfsmith_node *node, uint16_t rank);

static void deliver(inbox *in, frame *f) {
  gfsmith_node *node = in->owner;
  const gfsmith_node_options *o = &node->options;
  world_trace("%u to %u: %s %zu", in->from, o->rank, names[f->kind], f->bytes);
  if (f->kind == FRAME_UP) {
    if (node->links[in->from] != NULL)
      lose(node, in->from);
    node->links[in->from] = in->link;
    node->peers[in->from].tries = false;
    node->peers[in->from].delay = 0;
    o->link(o->context, in->from, true);
    events->up(node, in->from);
  } else if (node->links[in->from] != in->link) {
    return; /* of a link that has been replaced */
  } else if (f->kind == FRAME_DOWN) {
    lose(node, in->from);
  } else if (f->kind == FRAME_MESSAGE) {
    o->message(o->context, in->from, f->data, f->bytes);
  } else {
    events->arrived(node, in->from, f);
  }
}

static void pump(void *what) {
  inbox *in = what;
  gfsmith_node *node = in->owner;
  if (in->first == NULL || in->first->due > world_now() || node->process->dead)
    return;
  if (node->process->paused ||
      (in->first->kind != FRAME_DOWN && blocks[in->from][node->options.rank] > 0)) {
    world_after(world_between(5 * MS, 10 * MS), pump, in);
    return;
  }
  frame *f = in->first;
  in->first = f->next;
  if (in->first == NULL)
    in->last = &in->first;
  process_current = node->process; /* its allocations may fail */
  deliver(in, f);
  process_current = NULL;
  process_notify(node->process);
  if (in->first != NULL)
    world_after(in->first->due > world_now() ? in->first->due - world_now() : 0, pump, in);
}

/* The first frame of an inbox has an event; each one starts the event of the next. */
static void put(inbox *in, frame *f, uint64_t delay) {
  f->due = world_now() + delay;
  if (f->due < in->latest)
    f->due = in->latest;
  in->latest = f->due;
  f->next = NULL;
  *in->last = f;
  in->last = &f->next;
  if (in->first == f)
    world_after(f->due - world_now(), pump, in);
}

void network_begin(const network_events *user) {
  events = user;
  static const uint64_t delays[] = {300 * US, 300 * US, 3 * MS, 20 * MS};
  slowest = delays[world_random(4)];
}

static uint64_t way(void) {
  return world_chance(20) ? world_between(MS, 30 * MS) : world_between(20 * US, slowest);
}

bool network_send(gfsmith_node *node, uint16_t rank, frame *f) {
  link *l = rank < MACHINES ? node->links[rank] : NULL;
  if (l == NULL)
    return false;
  inbox *in = &l->side[l->side[0].owner == node];
  if (!l->cut)
    put(in, f, way());
  return true;
}

/* ---- links that come and go ------------------------------------------------------------------ */

static void notice_down(inbox *in, uint64_t most) {
  frame *f = world_new(sizeof *f);
  f->kind = FRAME_DOWN;
  /* the last frames may be lost */
  const unsigned arrives = world_chance(500) ? 0 : 800;
  frame **at = &in->first;
  while (*at != NULL && ((*at)->kind == FRAME_UP || world_chance(arrives)))
    at = &(*at)->next;
  *at = NULL;
  in->last = at;
  put(in, f, world_random(most));
}

static void cut(link *l, uint64_t most) {
  if (l->cut)
    return;
  l->cut = true;
  for (unsigned i = 0; i < 2; i++)
    if (!l->side[i].owner->process->dead)
      notice_down(&l->side[i], most);
}

static void lose(gfsmith_node *node, uint16_t rank) {
  link *l = node->links[rank];
  node->links[rank] = NULL;
  cut(l, 20 * MS); /* unless the peer has cut it */
  node->options.link(node->options.context, rank, false);
  events->down(node, rank);
  plan(node, rank);
}

static void connect_nodes(gfsmith_node *a, gfsmith_node *b) {
  link *l = world_new(sizeof *l);
  l->next = links;
  links = l;
  l->side[0] = (inbox){.link = l, .owner = a, .from = b->options.rank};
  l->side[1] = (inbox){.link = l, .owner = b, .from = a->options.rank};
  for (unsigned i = 0; i < 2; i++) {
    frame *f = world_new(sizeof *f);
    f->kind = FRAME_UP;
    l->side[i].last = &l->side[i].first;
    put(&l->side[i], f, world_between(100 * US, 2 * MS));
  }
}

typedef struct attempt {
  gfsmith_node *node;
  uint16_t rank, port;
} attempt;

static void on_attempt(void *what) {
  attempt *t = what;
  gfsmith_node *node = t->node, *to = nodes;
  address_of *peer = &node->peers[t->rank];
  uint16_t own = node->options.rank;
  if (node->process->dead || t->port != peer->port)
    return; /* or the peer has moved: there is another attempt */
  peer->tries = false;
  if (node->links[t->rank] != NULL)
    return;
  while (to != NULL && (to->port != peer->port || to->process->dead))
    to = to->next;
  peer->delay = peer->delay == 0 ? 10 * MS : peer->delay < SECOND ? 2 * peer->delay : SECOND;
  if (to == NULL || to->options.rank != t->rank || to->process->paused || node->process->paused ||
      blocks[own][t->rank] > 0 || blocks[t->rank][own] > 0) {
    plan(node, t->rank);
    return;
  }
  peer->tries = true; /* until it is up */
  connect_nodes(node, to);
}

/* Plan an attempt to connect, if it is this node's task. */
static void plan(gfsmith_node *node, uint16_t rank) {
  address_of *peer = &node->peers[rank];
  if (node->options.rank < rank || peer->port == 0 || peer->tries)
    return;
  attempt *t = world_new(sizeof *t);
  *t = (attempt){node, rank, peer->port};
  peer->tries = true;
  world_after(peer->delay + world_random(MS), on_attempt, t);
}

void network_forget(process *p, uint64_t most) {
  for (link *l = links; l != NULL; l = l->next)
    if (l->side[0].owner->process == p || l->side[1].owner->process == p)
      cut(l, most);
}

void network_break(uint16_t a, uint16_t b, uint64_t most) {
  for (const gfsmith_node *n = nodes; n != NULL; n = n->next)
    if (n->options.rank == a && !n->process->dead && n->links[b] != NULL)
      cut(n->links[b], most);
}

void network_block(uint16_t a, uint16_t b, bool blocked) {
  if (blocked)
    blocks[a][b]++;
  else if (blocks[a][b] > 0)
    blocks[a][b]--;
}

void network_unblock_all(void) { memset(blocks, 0, sizeof blocks); }

/* ---- gfsmith_compose.h: nodes ---------------------------------------------------------------- */

void gfsmith_node_defaults(gfsmith_node_options *options) {
  *options = (gfsmith_node_options){.size = sizeof *options, .deadline_ms = 30000};
}

int gfsmith_node_create(gfsmith_node **out, const gfsmith_node_options *options, char *reason) {
  (void)reason;
  gfsmith_node *node = world_new(sizeof *node);
  node->process = process_current;
  node->process->node = node;
  node->options = *options;
  node->port = ports++;
  node->next = nodes;
  nodes = node;
  *out = node;
  return GFSMITH_OK;
}

void gfsmith_node_destroy(gfsmith_node *node) { (void)node; }

uint16_t gfsmith_node_rank(const gfsmith_node *node) { return node->options.rank; }

uint16_t gfsmith_node_port(const gfsmith_node *node) { return node->port; }

int gfsmith_node_peer(gfsmith_node *node, uint16_t rank, const char *host, uint16_t port) {
  address_of *peer = &node->peers[rank];
  link *l = node->links[rank];
  (void)host;
  if (l != NULL && peer->port != port && node->options.rank > rank)
    cut(l, 0); /* the peer has moved */
  peer->tries = peer->tries && peer->port == port;
  peer->port = port;
  peer->delay = 0;
  if (l == NULL)
    plan(node, rank);
  return GFSMITH_OK;
}

/* The simulation has one key and no attacker. */
int gfsmith_node_rekey(gfsmith_node *node, const uint8_t *key, size_t key_bytes,
                       const uint8_t *previous, size_t previous_bytes) {
  (void)node;
  (void)key;
  (void)key_bytes;
  (void)previous;
  (void)previous_bytes;
  return GFSMITH_OK;
}

unsigned gfsmith_node_old_links(const gfsmith_node *node) {
  (void)node;
  return 0;
}

int gfsmith_node_trouble(const gfsmith_node *node, uint16_t rank, char *reason) {
  (void)node;
  (void)rank;
  (void)reason;
  return GFSMITH_OK;
}

int gfsmith_node_send(gfsmith_node *node, uint16_t rank, const void *bytes, size_t length) {
  process_effect();
  frame *f = world_new(sizeof *f);
  f->kind = FRAME_MESSAGE;
  f->bytes = length;
  f->data = world_new(length);
  memcpy(f->data, bytes, length);
  return network_send(node, rank, f) ? GFSMITH_OK : GFSMITH_EPEER;
}
