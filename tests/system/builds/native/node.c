/* A program outside of the project that uses libgfsmith-compose: a node that computes all shards
 * itself and compares them with the core library's codec. */
#include <gfsmith_compose.h>

#include <stdio.h>
#include <string.h>

enum { K = 3, M = 2, LENGTH = 1000 };

static uint8_t shards[K + M][LENGTH], computed[M][LENGTH];

static int compute(gfsmith_node *node, const uint8_t *matrix) {
  const uint8_t *local[K] = {shards[0], shards[1], shards[2]};
  uint8_t *output[M] = {computed[0], computed[1]};
  gfsmith_operation *operation = NULL;
  gfsmith_job job = {.id = 1, .hash = 2};
  gfsmith_calc calc = {GFSMITH_EC, GFSMITH_POLYNOMIAL, M, matrix};
  gfsmith_memory memory = {.length = LENGTH, .locals = K, .local = local, .output = output};
  int status =
      gfsmith_recv_ec(node, &job, NULL, &calc, &memory, &(gfsmith_notice){NULL, NULL, &operation});
  gfsmith_outcome outcome = {.status = GFSMITH_ETIMEDOUT};
  if (status == GFSMITH_OK) {
    gfsmith_operation_wait(operation, 60000, &outcome);
    gfsmith_operation_release(operation);
    status = outcome.status;
  }
  return status;
}

int main(void) {
  static const uint8_t key[GFSMITH_KEY_MIN] = "0123456789abcde", matrix[M * K] = {1, 1, 1, 1, 2, 4};
  for (unsigned i = 0; i < K; i++)
    memset(shards[i], (int)(17 * i + 5), LENGTH);
  const uint8_t *data[K] = {shards[0], shards[1], shards[2]};
  uint8_t *parity[M] = {shards[K], shards[K + 1]};
  gfsmith_codec *codec;
  gfsmith_status made = gfsmith_codec_create_matrix(&codec, GFSMITH_POLYNOMIAL, K, M, matrix);
  if (made == GFSMITH_OK)
    made = gfsmith_encode(codec, LENGTH, data, parity);
  gfsmith_codec_destroy(codec);

  gfsmith_node_options options;
  gfsmith_node_defaults(&options);
  options.key = key;
  options.key_bytes = sizeof key;
  gfsmith_node *node = NULL;
  int status = gfsmith_node_create(&node, &options, NULL);
  if (status == GFSMITH_OK)
    status = compute(node, matrix);
  gfsmith_node_destroy(node);
  bool same = !memcmp(computed, shards[K], sizeof computed);
  printf("%s, %s: %s\n", gfsmith_strerror(made), gfsmith_compose_strerror(status),
         same ? "same" : "differ");
  return same ? 0 : 1;
}
