#include "operations.h"

#include <stdio.h>
#include <string.h>

typedef enum end_state { END_WAITS, END_GRANTED, END_DONE } end_state;

/* One end of a transfer. */
typedef struct end {
  uint16_t rank, edge;
  unsigned shard; /* the input or output */
  bool sends, sent;
  end_state state;
} end;

struct gfsmith_operation {
  gfsmith_node *node;
  gfsmith_job job;
  gfsmith_calc calc;
  size_t length, slice;
  unsigned inputs, ends;
  uint8_t *input[64], *output[64], matrix[64 * 64];
  end end[64];
  bool computed, failed, over;
  gfsmith_outcome outcome;
  gfsmith_done *done;
  void *context;
  gfsmith_operation *next;
};

typedef struct grant {
  uint16_t rank;
  frame frame;
  struct grant *next;
} grant;

static void report(gfsmith_operation *o) {
  gfsmith_operation **at = &o->node->operations;
  while (*at != o)
    at = &(*at)->next;
  *at = o->next;
  o->over = true;
  o->done(o->context, &o->outcome);
}

/* Is the operation over, or its process stopped? Then the event comes again later. */
static bool stopped(gfsmith_operation *o, void (*event)(void *what)) {
  const process *p = o->node->process;
  if (p->paused && !p->dead && !o->over)
    world_after(5 * MS, event, o);
  return p->dead || p->paused || o->over;
}

/* Report from an event of its own. */
static void on_over(void *what) {
  gfsmith_operation *o = what;
  process *p = o->node->process;
  if (stopped(o, on_over))
    return;
  process_current = p;
  report(o);
  process_current = NULL;
  process_notify(p);
}

static void refuse_end(gfsmith_operation *o, const end *e) {
  frame *f = world_new(sizeof *f);
  *f = (frame){.kind = FRAME_REFUSE,
               .job = o->job.id,
               .edge = e->edge,
               .by_receiver = !e->sends,
               .status = o->outcome.status,
               .culprit = o->outcome.rank < 0 ? o->node->options.rank : o->outcome.rank};
  network_send(o->node, e->rank, f);
}

static void fail(gfsmith_operation *o, const end *cause, int status, int rank, const char *reason) {
  bool granted = false;
  if (o->failed || o->over)
    return;
  o->failed = true;
  o->outcome.status = status;
  o->outcome.rank = rank;
  snprintf(o->outcome.reason, sizeof o->outcome.reason, "%s", reason);
  for (unsigned i = 0; i < o->ends; i++) {
    const end *e = &o->end[i];
    granted = granted || (!e->sends && e->state == END_GRANTED);
    if (e->state != END_DONE && e != cause)
      refuse_end(o, e);
  }
  /* a peer may write until it has answered the refusal */
  world_after(granted ? world_random(SECOND) : world_random(MS), on_over, o);
}

static uint8_t times(unsigned a, unsigned b, unsigned polynomial) {
  unsigned product = 0;
  for (; b != 0; b >>= 1, a = a << 1 ^ (a & 0x80 ? polynomial : 0))
    product ^= b & 1 ? a : 0;
  return (uint8_t)product;
}

static uint8_t entry(const gfsmith_operation *o, unsigned row, unsigned input) {
  switch (o->calc.calculator) {
  case GFSMITH_FORWARD:
    return row == input;
  case GFSMITH_XOR:
    return 1;
  default:
    return o->matrix[row * o->inputs + input];
  }
}

static void compute_row(gfsmith_operation *o, unsigned row) {
  uint8_t *sum = world_new(o->length + 1);
  for (unsigned i = 0; i < o->inputs; i++) {
    uint8_t c = entry(o, row, i);
    for (size_t b = 0; c != 0 && b < o->length; b++)
      sum[b] ^= times(o->input[i][b], c, o->calc.polynomial);
  }
  if (o->output[row] == NULL)
    o->output[row] = sum;
  else
    memcpy(o->output[row], sum, o->length);
}

static void try_send(gfsmith_operation *o, end *e) {
  if (!o->computed || e->state != END_GRANTED || e->sent || o->failed)
    return;
  frame *f = world_new(sizeof *f);
  *f = (frame){.kind = FRAME_DATA, .job = o->job.id, .edge = e->edge, .bytes = o->length};
  f->data = world_new(o->length + 1);
  memcpy(f->data, o->output[e->shard], o->length);
  e->sent = true;
  network_send(o->node, e->rank, f);
}

/* Compute when all inputs are there, send, and report when all ends are done. */
static void go_on(gfsmith_operation *o) {
  bool here = true, all = true;
  for (unsigned i = 0; i < o->ends; i++) {
    all = all && o->end[i].state == END_DONE;
    here = here && (o->end[i].sends || o->end[i].state == END_DONE);
  }
  if (o->failed || o->over)
    return;
  if (here && !o->computed) {
    for (unsigned row = 0; row < o->calc.outputs; row++)
      compute_row(o, row);
    o->computed = true;
  }
  for (unsigned i = 0; i < o->ends; i++)
    if (o->end[i].sends)
      try_send(o, &o->end[i]);
  if (all)
    report(o);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void give_grant(gfsmith_operation *o, end *e) {
  frame *f = world_new(sizeof *f);
  *f = (frame){.kind = FRAME_GRANT,
               .job = o->job.id,
               .hash = o->job.hash,
               .length = o->length,
               .slice = o->slice,
               .edge = e->edge};
  if (network_send(o->node, e->rank, f))
    e->state = END_GRANTED;
}

static void take_grant(gfsmith_operation *o, end *e, const frame *f) {
  if (f->hash != o->job.hash || f->length != o->length || f->slice != o->slice) {
    fail(o, NULL, GFSMITH_EMISMATCH, e->rank, "the hashes differ");
    return;
  }
  if (e->state == END_WAITS)
    e->state = END_GRANTED;
  try_send(o, e);
}

static end *find(gfsmith_node *node, uint16_t rank, const frame *f, bool sends,
                 gfsmith_operation **found) {
  for (gfsmith_operation *o = node->operations; o != NULL; o = o->next)
    for (unsigned i = 0; o->job.id == f->job && i < o->ends; i++)
      if (o->end[i].rank == rank && o->end[i].edge == f->edge && o->end[i].sends == sends) {
        *found = o;
        return &o->end[i];
      }
  return NULL;
}

static void keep_grant(gfsmith_node *node, uint16_t rank, const frame *f) {
  grant *g = world_new(sizeof *g);
  *g = (grant){rank, *f, node->grants};
  node->grants = g;
}

static void take_data(gfsmith_operation *o, end *e, const frame *f) {
  memcpy(o->input[e->shard], f->data, o->length);
  e->state = END_DONE;
  frame *landed = world_new(sizeof *landed);
  *landed = (frame){.kind = FRAME_LANDED, .job = f->job, .edge = f->edge};
  network_send(o->node, e->rank, landed);
  go_on(o);
}

static void take_frame(gfsmith_node *node, uint16_t rank, const frame *f) {
  gfsmith_operation *o;
  bool sends = f->kind == FRAME_GRANT || f->kind == FRAME_LANDED ||
               (f->kind == FRAME_REFUSE && f->by_receiver);
  end *e = find(node, rank, f, sends, &o);
  if (e == NULL) {
    if (f->kind == FRAME_GRANT)
      keep_grant(node, rank, f);
  } else if (f->kind == FRAME_GRANT) {
    take_grant(o, e, f);
  } else if (f->kind == FRAME_DATA) {
    take_data(o, e, f);
  } else if (f->kind == FRAME_REFUSE) {
    fail(o, e, f->status, f->culprit == node->options.rank ? rank : f->culprit, "a peer failed");
  } else {
    e->state = END_DONE;
    go_on(o);
  }
}

static void link_up(gfsmith_node *node, uint16_t rank) {
  for (gfsmith_operation *o = node->operations; o != NULL; o = o->next)
    for (unsigned i = 0; i < o->ends; i++)
      if (o->end[i].rank == rank && !o->end[i].sends && o->end[i].state == END_WAITS && !o->failed)
        give_grant(o, &o->end[i]);
}

static void link_down(gfsmith_node *node, uint16_t rank) {
  for (grant **at = &node->grants; *at != NULL;) {
    if ((*at)->rank == rank)
      *at = (*at)->next;
    else
      at = &(*at)->next;
  }
  for (gfsmith_operation *o = node->operations; o != NULL; o = o->next)
    for (unsigned i = 0; i < o->ends; i++)
      if (o->end[i].rank == rank && o->end[i].state == END_GRANTED)
        fail(o, NULL, GFSMITH_EPEER, rank, "the link is down");
}

const network_events operations_events = {link_up, link_down, take_frame};

/* ---- gfsmith_compose.h: primitives ----------------------------------------------------------- */

static void on_deadline(void *what) {
  gfsmith_operation *o = what;
  int rank = -1;
  for (unsigned i = 0; i < o->ends && rank < 0; i++)
    if (o->end[i].state != END_DONE)
      rank = o->end[i].rank;
  if (!stopped(o, on_deadline))
    fail(o, NULL, GFSMITH_ETIMEDOUT, rank, "the deadline has passed");
}

static void on_cancel(void *what) {
  gfsmith_operation *o = what;
  if (!stopped(o, on_cancel))
    fail(o, NULL, GFSMITH_ECANCELED, -1, "canceled");
}

/* The engine begins with a posted operation. */
static void on_posted(void *what) {
  gfsmith_operation *o = what;
  gfsmith_node *node = o->node;
  process *p = node->process;
  if (stopped(o, on_posted))
    return;
  process_current = p;
  for (unsigned i = 0; i < o->ends && !o->failed; i++) {
    end *e = &o->end[i];
    if (!e->sends && e->state == END_WAITS)
      give_grant(o, e);
    for (grant **at = &node->grants; e->sends && *at != NULL && !o->failed;) {
      grant *g = *at;
      bool ours = g->rank == e->rank && g->frame.job == o->job.id && g->frame.edge == e->edge;
      if (ours) {
        *at = g->next;
        take_grant(o, e, &g->frame);
      } else {
        at = &g->next;
      }
    }
  }
  go_on(o);
  process_current = NULL;
  process_notify(p);
}

static void add_end(gfsmith_operation *o, end e) { o->end[o->ends++] = e; }

static int post(gfsmith_node *node, const gfsmith_job *job, const gfsmith_wait *wait,
                const gfsmith_calc *calc, const gfsmith_memory *memory,
                const gfsmith_stripe *stripe, const gfsmith_notice *notice) {
  process_effect();
  if (node->process->starved > 0 && world_chance(node->process->starved))
    return GFSMITH_ENOMEM;
  gfsmith_operation *o = world_new(sizeof *o);
  o->node = node;
  o->job = *job;
  o->calc = *calc;
  o->length = memory->length;
  o->slice = memory->slice;
  o->done = notice->done;
  o->context = notice->context;
  *notice->operation = o;
  for (unsigned i = 0; i < memory->locals; i++)
    o->input[o->inputs++] = (uint8_t *)(uintptr_t)memory->local[i];
  for (unsigned i = 0; wait != NULL && i < wait->count; i++) {
    uint8_t *to = memory->received == NULL ? NULL : memory->received[i];
    o->input[o->inputs] = to != NULL ? to : world_new(o->length + 1);
    add_end(o, (end){wait->source[i].rank, wait->source[i].edge, o->inputs++, false, false, 0});
  }
  for (unsigned i = 0; i < calc->outputs && memory->output != NULL; i++)
    o->output[i] = memory->output[i];
  for (unsigned i = 0; stripe != NULL && i < stripe->count; i++)
    add_end(o, (end){stripe->target[i].rank, stripe->target[i].edge, stripe->target[i].output, true,
                     false, 0});
  if (calc->calculator == GFSMITH_EC)
    memcpy(o->matrix, calc->matrix, (size_t)calc->outputs * o->inputs);
  o->next = node->operations;
  node->operations = o;
  world_after(world_random(50 * US), on_posted, o);
  world_after(job->deadline_ms * MS, on_deadline, o);
  return GFSMITH_OK;
}

int gfsmith_ec_send(gfsmith_node *node, const gfsmith_job *job, const gfsmith_calc *calc,
                    const gfsmith_memory *memory, const gfsmith_stripe *stripe,
                    const gfsmith_notice *notice) {
  return post(node, job, NULL, calc, memory, stripe, notice);
}

int gfsmith_recv_ec_send(gfsmith_node *node, const gfsmith_job *job, const gfsmith_wait *wait,
                         const gfsmith_calc *calc, const gfsmith_memory *memory,
                         const gfsmith_stripe *stripe, const gfsmith_notice *notice) {
  return post(node, job, wait, calc, memory, stripe, notice);
}

int gfsmith_recv_ec(gfsmith_node *node, const gfsmith_job *job, const gfsmith_wait *wait,
                    const gfsmith_calc *calc, const gfsmith_memory *memory,
                    const gfsmith_notice *notice) {
  return post(node, job, wait, calc, memory, NULL, notice);
}

int gfsmith_incoherent(gfsmith_node *node, const gfsmith_job *job, const gfsmith_wait *wait,
                       const gfsmith_calc *calc, const gfsmith_memory *memory,
                       const gfsmith_stripe *stripe, gfsmith_outcome *outcome) {
  (void)node, (void)job, (void)wait, (void)calc, (void)memory, (void)stripe, (void)outcome;
  return GFSMITH_EUNSUPPORTED;
}

void gfsmith_operation_cancel(gfsmith_operation *operation) {
  if (operation != NULL)
    world_after(world_random(50 * US), on_cancel, operation);
}

void gfsmith_operation_release(gfsmith_operation *operation) { (void)operation; }
