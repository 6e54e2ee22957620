#include "confirm.h"

#include "call.h"
#include "node.h"

#include <stdlib.h>

typedef struct confirming {
  agent *agent;
  uint64_t began_ms;
  confirm_done *done;
  void *owner;
} confirming;

static void finish(confirming *c, const char *reason) {
  confirm_done *done = c->done;
  void *owner = c->owner;
  free(c);
  done(owner, reason);
}

static void ask(confirming *c);

static void on_answers(void *owner, const result *r) {
  confirming *c = owner;
  agent *a = c->agent;
  if (r->status == GFSMITH_OK)
    finish(c, NULL);
  else if (agent_now_ms() - c->began_ms >= a->deadline_ms)
    finish(c, r->reason);
  else
    ask(c); /* others: those that did not answer do not serve any more */
}

static void ask(confirming *c) {
  agent *a = c->agent;
  char reason[AGENT_REASON] = "";
  message m = {.type = MESSAGE_PING};
  unsigned wanted = layout_get(a->layout)->m + 1, n = agent_nodes(a);
  unsigned first = (unsigned)(agent_number(a) % n); /* spreads the load */
  uint64_t ranks = 0;
  for (unsigned i = 0; i < n && wanted > 0; i++) {
    unsigned rank = 1 + (first + i) % n;
    if (node_serves(&a->nodes[rank])) {
      ranks |= UINT64_C(1) << rank;
      wanted--;
    }
  }
  if (wanted > 0) {
    append(reason, "not available now: %u more chunk servers must confirm that there is no value",
           wanted);
    finish(c, reason);
    return;
  }
  call *asked = call_begin(a, a->deadline_ms * 2 / 5 + 1, on_answers, c);
  if (asked == NULL) {
    finish(c, no_memory);
    return;
  }
  for (uint16_t rank = 1; rank <= n; rank++)
    if (ranks >> rank & 1)
      call_ask(asked, rank, &m);
  call_go(asked);
}

void confirm_begin(agent *a, confirm_done *done, void *owner) {
  confirming *c = malloc(sizeof *c);
  if (c == NULL) {
    done(owner, no_memory);
    return;
  }
  *c = (confirming){.agent = a, .began_ms = agent_now_ms(), .done = done, .owner = owner};
  ask(c);
}
