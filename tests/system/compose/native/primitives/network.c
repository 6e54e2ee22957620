#include "network.h"

#include <string.h>
#include <time.h>

static const uint8_t the_key[] = "a key of all nodes of these tests";

void network_nap(void) { nanosleep(&(struct timespec){0, 1000000}, NULL); }

void network_wait(const network *network, unsigned node, unsigned peer, bool up) {
  for (unsigned n = 0; n < 30000; n++) {
    if (gfsmith_node_connected(network->node[node], (uint16_t)peer) == up)
      return;
    network_nap();
  }
  REQUIRE(false, "link of %u to %u: not %s", node, peer, up ? "up" : "down");
}

void network_node(gfsmith_node **node, const char *provider, uint16_t rank, size_t memory) {
  gfsmith_node_options options;
  char reason[GFSMITH_REASON_MAX];
  gfsmith_node_defaults(&options);
  options.provider = provider;
  options.rank = rank;
  options.key = the_key;
  options.key_bytes = sizeof the_key;
  options.connect_ms = 20000;
  options.triggers = true; /* where the provider has them */
  if (memory > 0)
    options.memory = memory;
  int status = gfsmith_node_create(node, &options, reason);
  REQUIRE(status == GFSMITH_OK, "node %u: %s", rank, reason);
}

void network_create(network *network, const char *provider, unsigned nodes, size_t memory) {
  memset(network, 0, sizeof *network);
  network->nodes = nodes;
  for (unsigned n = 0; n < nodes; n++) {
    network_node(&network->node[n], provider, (uint16_t)n, memory);
    network->port[n] = gfsmith_node_port(network->node[n]);
    for (unsigned peer = 0; peer < n; peer++)
      gfsmith_node_peer(network->node[n], (uint16_t)peer, "127.0.0.1", network->port[peer]);
  }
  for (unsigned n = 0; n < nodes; n++) {
    for (unsigned peer = 0; peer < nodes; peer++) {
      if (peer != n)
        network_wait(network, n, peer, true);
    }
  }
}

void network_destroy(network *network) {
  for (unsigned n = 0; n < network->nodes; n++)
    gfsmith_node_destroy(network->node[n]);
}
