/* roundtrip.c: a typical client of ISA-L: encode, lose, invert, repair. */
#include <isa-l/erasure_code.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = 10, M = 4, LENGTH = 5000 };

int main(void) {
  static unsigned char matrix[(K + M) * K], square[K * K], inverse[K * K], tables[32 * K * M];
  static unsigned char bytes[K + M][LENGTH], repaired[M][LENGTH];
  unsigned char *shard[K + M], *left[K], *out[M];
  static const int lost[M] = {0, 3, 9, 11};
  for (int n = 0; n < K + M; n++) {
    shard[n] = bytes[n];
    for (int at = 0; at < LENGTH && n < K; at++)
      bytes[n][at] = (unsigned char)rand();
  }
  gf_gen_cauchy1_matrix(matrix, K + M, K);
  ec_init_tables(K, M, matrix + K * K, tables);
  ec_encode_data(LENGTH, K, M, tables, shard, shard + K);

  for (int n = 0, row = 0; row < K; n++) {
    if (n == lost[0] || n == lost[1] || n == lost[2] || n == lost[3])
      continue;
    memcpy(square + row * K, matrix + n * K, K);
    left[row++] = shard[n];
  }
  if (gf_invert_matrix(square, inverse, K) != 0)
    return 1;
  unsigned char rows[3 * K]; /* of the lost data shards */
  for (int n = 0; n < 3; n++) {
    memcpy(rows + n * K, inverse + lost[n] * K, K);
    out[n] = repaired[n];
  }
  ec_init_tables(K, 3, rows, tables);
  ec_encode_data(LENGTH, K, 3, tables, left, out);
  for (int n = 0; n < 3; n++)
    if (memcmp(repaired[n], bytes[lost[n]], LENGTH) != 0)
      return 1;
  puts("repaired");
  return 0;
}
