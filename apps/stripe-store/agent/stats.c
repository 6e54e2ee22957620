#include "stats.h"

#include "index.h"
#include "node.h"
#include "recover.h"

#include <inttypes.h>
#include <unistd.h>

static void number(client *c, const char *name, uint64_t value) {
  client_answer(c, "STAT %s %" PRIu64, name, value);
}

/* Values are single words, because clients split these lines at spaces. */
static void general(client *c) {
  static const char *const states[] = {"gone", "silent", "listing", "listed", "rebuilding", "up"};
  agent *a = c->agent;
  const counters *n = &a->counters;
  char text[LAYOUT_TEXT], reason[AGENT_REASON];
  layout_text(layout_get(a->layout), text);
  number(c, "pid", (uint64_t)getpid());
  client_answer(c, "STAT layout %s", text);
  bool waits = recover_waits(a, reason);
  bool writable = !waits && nodes_writable(a, reason);
  client_answer(c, "STAT state %s", writable ? "read-write" : waits ? "waiting" : "read-only");
  if (!writable)
    client_answer(c, "STAT reason %s", reason);
  for (uint16_t rank = 1; rank <= agent_nodes(a); rank++)
    client_answer(c, "STAT chunk_server_%u %s", rank, states[a->nodes[rank].state]);
  number(c, "epoch", a->group.epoch);
  number(c, "curr_items", HASH_CNT(by_key, a->by_key));
  number(c, "bytes", a->bytes);
  number(c, "limit_item", a->value_max);
  number(c, "curr_connections", n->clients);
  number(c, "cmd_get", n->gets);
  number(c, "get_hits", n->hits);
  number(c, "get_misses", n->gets - n->hits);
  number(c, "cmd_set", n->sets);
  number(c, "cmd_delete", n->deletes);
  number(c, "reads_degraded", n->degraded);
  number(c, "reads_tried_again", n->retried);
  number(c, "refused", n->refused);
  number(c, "chunks_rebuilt", n->rebuilt);
  number(c, "values_lost", a->lost);
  number(c, "bytes_on_their_way", a->memory);
}

/* Of the other kinds of memcached there are none. */
void stats_answer(client *c) {
  if (c->request.key_bytes == 0)
    general(c);
  client_answer(c, "END");
}
