/* A graph with the hash of its text. */
#include <sodium.h>
#include <stdlib.h>

#include "graph_create.h"

/* The hash of gfsmith_graph_hash, computed from the JSON. */
static int digest(const gfsmith_graph *graph, uint64_t *hash) {
  size_t length = gfsmith_graph_json(graph, NULL, 0);
  char *text = malloc(length + 1);
  if (text == NULL)
    return GFSMITH_ENOMEM;
  gfsmith_graph_json(graph, text, length + 1);
  uint8_t sum[crypto_generichash_BYTES_MIN];
  crypto_generichash(sum, sizeof sum, (const unsigned char *)text, length, NULL, 0);
  free(text);
  *hash = 0;
  for (unsigned n = 0; n < 8; n++)
    *hash |= (uint64_t)sum[n] << 8 * n;
  return GFSMITH_OK;
}

int gfsmith_graph_create(gfsmith_graph **out, const gfsmith_graph_request *request, char *reason) {
  int status = gfc_graph_create(out, request, reason);
  if (status != GFSMITH_OK)
    return status;
  status = digest(*out, &(*out)->hash);
  if (status == GFSMITH_OK)
    return status;
  gfsmith_graph_destroy(*out);
  *out = NULL;
  return gfc_graph_fail(reason, status, "out of memory");
}
