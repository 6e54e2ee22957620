#include "node.h"

#include "common/report.h"

#include <stdlib.h>
#include <string.h>

void node_forget_lists(node *n) {
  versions_free(&n->chunks);
  versions_free(&n->damaged);
  records_free(&n->records);
  n->listed = false;
}

bool node_serves(const node *n) { return n->state >= NODE_LISTED; }

const char *node_words(const agent *a, uint16_t rank) {
  switch (a->nodes[rank].state) {
  case NODE_AWAY:
    if (a->nodes[rank].unheard)
      return "is coming back";
    return a->nodes[rank].linked ? "cannot reach its chunks" : "is gone";
  case NODE_SILENT:
    return "does not answer";
  case NODE_LISTING:
  case NODE_LISTED:
    return "is coming back";
  case NODE_SYNCING:
    return "is being rebuilt";
  default:
    return "is up";
  }
}

static void append_trouble(const agent *a, char reason[AGENT_REASON]) {
  if (a->trouble[0] != '\0')
    append(reason, "; %s", a->trouble);
}

bool nodes_up(const agent *a, char reason[AGENT_REASON]) {
  bool up = true;
  strcpy(reason, "read-only:");
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (a->nodes[rank].state != NODE_UP) {
      append(reason, "%s chunk server %u %s", up ? "" : ",", rank, node_words(a, rank));
      up = false;
    }
  if (!up)
    append_trouble(a, reason);
  return up;
}

bool nodes_writable(const agent *a, char reason[AGENT_REASON]) {
  if (!nodes_up(a, reason))
    return false;
  if (!a->group.flushing)
    return true;
  append(reason, " flush_all is not over");
  append_trouble(a, reason);
  return false;
}

void node_set_state(node *n, node_state state) {
  agent *a = n->agent;
  if (n->state == state)
    return;
  if (n->state == NODE_UP)
    a->changes++;
  n->state = state;
  if (state == NODE_UP || state == NODE_AWAY || state == NODE_SILENT)
    report("chunk server %u %s", n->rank, node_words(a, n->rank));
}
