#include "flush.h"

#include "call.h"
#include "index.h"
#include "membership.h"
#include "node.h"
#include "recover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct flush {
  agent *agent;
  uint64_t began_ms;
  bool again;    /* ask again: there was no memory for all requests, but some may have been sent */
  bool answered; /* all chunk servers have deleted their values */
  flush_done *done;
  void *owner;
};

/* `what`: how far it came; NULL: it is done. */
static void finish(struct flush *w, const char *what, const char *why) {
  flush_done *done = w->done;
  void *owner = w->owner;
  char text[AGENT_REASON];
  if (what != NULL)
    snprintf(text, sizeof text, "%s: %s", what, why);
  agent *a = w->agent;
  a->flush = NULL;
  free(w);
  if (a->wipes) {
    a->wipes = false;
    membership_advance(a);
  }
  done(owner, what == NULL ? NULL : text);
}

static bool late(const struct flush *w) {
  return agent_now_ms() - w->began_ms > 2 * (uint64_t)w->agent->deadline_ms;
}

/* No value is there any more. */
static void begin_without_values(agent *a) {
  recover_stop(a);
  index_clear(a);
  a->closed = true;
  a->deciders = a->doubters = a->copiers = 0;
  membership_advance(a);
}

static void on_flushed(void *owner, const result *r) {
  struct flush *w = owner;
  agent *a = w->agent;
  w->again = r->status == GFSMITH_ENOMEM && !late(w);
  if (w->again)
    return;
  if (r->status != GFSMITH_OK) {
    finish(w, "not flushed on all chunk servers, so values may be lost", r->reason);
    return;
  }
  a->wipes = false;
  w->answered = true;
  begin_without_values(a);
}

/* False: no memory. */
static bool ask(struct flush *w) {
  agent *a = w->agent;
  message m = {.type = MESSAGE_WIPE};
  call *c = call_begin(a, a->deadline_ms, on_flushed, w);
  if (c == NULL)
    return false;
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    call_ask(c, rank, &m);
  call_go(c);
  return true;
}

/* Note in the group that the values of its memories go, or that this is over: the group names the
 * memories that are there now. An agent that starts in between has no values. */
static bool note(agent *a, bool flushing) {
  group fresh = a->group;
  fresh.flushing = flushing;
  return fresh.flushing == a->group.flushing || agent_save_group(a, &fresh);
}

/* Nothing is deleted yet. */
static void refuse_to_flush(struct flush *w, const char *why) {
  finish(w,
         w->agent->group.flushing ? "not flushed, but values are lost if the agent ends now"
                                  : "not flushed",
         why);
}

/* Also of an agent before this one, and of a flush_all that has failed. */
static bool is_over(agent *a, char reason[AGENT_REASON]) {
  return nodes_up(a, reason) && (note(a, false) || nodes_writable(a, reason));
}

void flush_tick(agent *a) {
  struct flush *w = a->flush;
  char reason[AGENT_REASON] = "";
  if (w == NULL && a->group.flushing && recover_is_hopeless(a))
    begin_without_values(a);
  if (w == NULL)
    (void)(a->group.flushing && is_over(a, reason));
  else if (w->again)
    w->again = !ask(w);
  else if (w->answered && is_over(a, reason))
    finish(w, NULL, NULL);
  else if (w->answered && late(w))
    finish(w, "flushed, but the store is not ready", reason);
}

void flush_begin(agent *a, flush_done *done, void *owner) {
  char reason[AGENT_REASON];
  if (a->flush != NULL || !a->group.formed) {
    done(owner, a->flush != NULL ? "not flushed: another flush_all runs"
                                 : "not flushed: there is no group yet");
    return;
  }
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (a->nodes[rank].state == NODE_AWAY || a->nodes[rank].state == NODE_SILENT) {
      snprintf(reason, sizeof reason, "not flushed: chunk server %u %s", rank, node_words(a, rank));
      done(owner, reason);
      return;
    }
  struct flush *w = calloc(1, sizeof *w);
  if (w == NULL) {
    done(owner, no_memory);
    return;
  }
  *w = (struct flush){.agent = a, .began_ms = agent_now_ms(), .done = done, .owner = owner};
  a->flush = w;
  if (!note(a, true)) {
    refuse_to_flush(w, a->trouble);
    return;
  }
  a->wipes = true;
  if (!ask(w)) {
    (void)note(a, false);
    refuse_to_flush(w, no_memory);
  }
}
