#include "network.h"

#include <string.h>
#include <time.h>

static const uint8_t the_key[] = "a key of all nodes of these tests";

void network_wait(const network *network, unsigned node, unsigned peer, bool up) {
  const struct timespec nap = {0, 1000000};
  for (unsigned n = 0; n < 30000; n++) {
    if (gfsmith_node_connected(network->node[node], (uint16_t)peer) == up)
      return;
    nanosleep(&nap, NULL);
  }
  REQUIRE(false, "link of %u to %u: not %s", node, peer, up ? "up" : "down");
}

void network_create(network *network, const char *provider, unsigned nodes, size_t memory) {
  memset(network, 0, sizeof *network);
  network->nodes = nodes;
  for (unsigned n = 0; n < nodes; n++) {
    gfsmith_node_options options;
    char reason[GFSMITH_REASON_MAX];
    gfsmith_node_defaults(&options);
    options.provider = provider;
    options.rank = (uint16_t)n;
    options.key = the_key;
    options.key_bytes = sizeof the_key;
    options.connect_ms = 20000;
    if (memory > 0)
      options.memory = memory;
    int status = gfsmith_node_create(&network->node[n], &options, reason);
    REQUIRE(status == GFSMITH_OK, "node %u: %s", n, reason);
    for (unsigned peer = 0; peer < n; peer++)
      gfsmith_node_peer(network->node[n], (uint16_t)peer, "127.0.0.1",
                        gfsmith_node_port(network->node[peer]));
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
