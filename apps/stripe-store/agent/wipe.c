/* flush_all: every chunk server deletes all values and becomes a new, empty one. The command is
 * over when the agent has admitted all of them. */
#include "agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wipe {
  agent *agent;
  uint64_t began_ms;
  bool answered; /* all chunk servers have deleted their values */
  write_done *done;
  void *owner;
};

static void finish(struct wipe *w, const char *reason) {
  write_done *done = w->done;
  void *owner = w->owner;
  char text[AGENT_REASON];
  if (reason != NULL)
    snprintf(text, sizeof text, "not flushed: %s", reason);
  w->agent->wipe = NULL;
  free(w);
  done(owner, reason == NULL ? NULL : text);
}

void wipe_tick(agent *a) {
  struct wipe *w = a->wipe;
  char reason[AGENT_REASON] = "";
  if (w == NULL || !w->answered)
    return;
  if (nodes_writable(a, reason))
    finish(w, NULL);
  else if (agent_now_ms() - w->began_ms > 2 * (uint64_t)a->deadline_ms)
    finish(w, reason);
}

static void on_wiped(void *owner, const result *r) {
  struct wipe *w = owner;
  agent *a = w->agent;
  if (r->status != GFSMITH_OK) {
    finish(w, r->reason);
    return;
  }
  index_clear(a);
  a->closed = true;
  w->answered = true;
  nodes_advance(a);
}

void wipe_begin(agent *a, write_done *done, void *owner) {
  message m = {.type = MESSAGE_WIPE};
  char reason[AGENT_REASON];
  if (a->wipe != NULL || !a->group.formed) {
    done(owner, a->wipe != NULL ? "not flushed: another flush_all runs"
                                : "not flushed: there is no group yet");
    return;
  }
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (a->nodes[rank].state == NODE_AWAY || a->nodes[rank].state == NODE_SILENT) {
      snprintf(reason, sizeof reason, "not flushed: chunk server %u %s", rank, node_words(a, rank));
      done(owner, reason);
      return;
    }
  struct wipe *w = calloc(1, sizeof *w);
  if (w == NULL)
    abort();
  *w = (struct wipe){.agent = a, .began_ms = agent_now_ms(), .done = done, .owner = owner};
  a->wipe = w;
  call *c = call_begin(a, a->deadline_ms, on_wiped, w);
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    call_ask(c, rank, &m);
  call_go(c);
}
