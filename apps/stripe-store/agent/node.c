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

bool nodes_writable(const agent *a, char reason[AGENT_REASON]) {
  bool writable = true;
  strcpy(reason, "read-only:");
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    if (a->nodes[rank].state != NODE_UP) {
      append(reason, "%s chunk server %u %s", writable ? "" : ",", rank, node_words(a, rank));
      writable = false;
    }
  if (!writable && a->trouble[0] != '\0')
    append(reason, "; %s", a->trouble);
  return writable;
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
