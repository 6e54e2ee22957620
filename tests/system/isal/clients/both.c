/* both.c: erasure code, CRC and Adler-32 in one program: the library of each function, and their
 * results. */
#include <dlfcn.h>
#include <isa-l/crc.h>
#include <isa-l/erasure_code.h>
#include <isa-l/igzip_lib.h>
#include <stdio.h>

#ifdef WITH_GFSMITH
#include "gfsmith.h"
#endif

enum { K = 4, M = 2, LENGTH = 999 };

static unsigned char bytes[K + M][LENGTH];

typedef void function(void);

static void origin(const char *name, function *of) {
  union {
    function *call;
    void *object;
  } address = {.call = of};
  Dl_info info;
  if (dladdr(address.object, &info) != 0)
    printf("%s %s\n", name, info.dli_fname);
}

#ifdef WITH_GFSMITH
static void compare(unsigned char **shard) {
  static uint8_t parity[M][LENGTH];
  uint8_t *out[] = {parity[0], parity[1]};
  gfsmith_codec *codec;
  if (gfsmith_codec_create(&codec, "cauchy", K, M) != GFSMITH_OK)
    return;
  gfsmith_encode(codec, LENGTH, (const uint8_t *const *)shard, out);
  gfsmith_codec_destroy(codec);
  for (int i = 0; i < M; i++)
    for (int at = 0; at < LENGTH; at++)
      if (parity[i][at] != shard[K + i][at])
        return;
  puts("gfsmith agrees");
}
#endif

int main(void) {
  unsigned char matrix[(K + M) * K], tables[32 * K * M], *shard[K + M];
  for (int n = 0; n < K + M; n++)
    for (int at = 0; at < LENGTH; at++)
      (shard[n] = bytes[n])[at] = (unsigned char)(n * 31 + at * 7 % 251);
  gf_gen_cauchy1_matrix(matrix, K + M, K);
  ec_init_tables(K, M, matrix + K * K, tables);
  ec_encode_data(LENGTH, K, M, tables, shard, shard + K);
  origin("ec_encode_data", (function *)ec_encode_data);
  origin("crc32_iscsi", (function *)crc32_iscsi);
  origin("isal_adler32", (function *)isal_adler32);
  printf("%08x %08x\n", crc32_iscsi(shard[K + 1], LENGTH, 0),
         isal_adler32(1, shard[K + 1], LENGTH));
#ifdef WITH_GFSMITH
  compare(shard);
#endif
  return 0;
}
