/* checksums: every function of gfsmith_checksum.h on random data. The output must be equal on every
 * machine and instruction set. Argument: an instruction set, "" for the automatic choice. */
#include "gfsmith_checksum.h"

#include <inttypes.h>
#include <string.h>

#include "reference.h"

enum { BYTES = 2 * 4096, KINDS = GFSMITH_CRC16_T10 + 1 };

static uint8_t data[BYTES];

/* The checksums of every length up to three of the longest blocks and one more byte, chained: each
 * starts from the one before. */
static void lengths(gfsmith_checksum kind) {
  uint64_t state = 0;
  for (size_t len = 0; len <= 3 * 512 + 1; len++)
    REQUIRE(gfsmith_checksum_update(kind, &state, len, data + len % 64) == GFSMITH_OK);
  printf("lengths %d %" PRIx64 "\n", (int)kind, state);
}

static void pieces(gfsmith_checksum kind) {
  uint64_t whole = 0;
  REQUIRE(gfsmith_checksum_update(kind, &whole, BYTES, data) == GFSMITH_OK);
  for (size_t at = 0; at <= BYTES; at += 1024) {
    uint64_t first = 0, second = 0;
    REQUIRE(gfsmith_checksum_update(kind, &first, at, data) == GFSMITH_OK);
    REQUIRE(gfsmith_checksum_update(kind, &second, BYTES - at, data + at) == GFSMITH_OK);
    REQUIRE(gfsmith_checksum_combine(kind, &first, second, BYTES - at) == GFSMITH_OK);
    REQUIRE(first == whole);
  }
  printf("whole %d %" PRIx64 "\n", (int)kind, whole);
}

static void sectors(gfsmith_checksum kind) {
  uint64_t sums[BYTES / 512];
  for (size_t sector = 512; sector <= 4096; sector *= 8) {
    REQUIRE(gfsmith_checksum_sectors(kind, sector, BYTES, data, sums) == GFSMITH_OK);
    for (size_t n = 0; n < BYTES / sector; n++)
      printf("sector %d %" PRIx64 "\n", (int)kind, sums[n]);
  }
}

/* Parities and checksums in one pass are those of two passes; a check gives the same checksums. */
static void shards(gfsmith_checksum kind) {
  enum { K = 4, M = 2, LEN = 1536 };
  static uint8_t stripe[K + M][LEN], other[M][LEN];
  uint8_t *parity[2][M] = {{stripe[K], stripe[K + 1]}, {other[0], other[1]}};
  const uint8_t *all[K + M];
  gfsmith_codec *codec;
  REQUIRE(gfsmith_codec_create(&codec, "cauchy", K, M) == GFSMITH_OK);
  REQUIRE(gfsmith_codec_hint(codec, GFSMITH_HINT_STREAMING) == GFSMITH_OK);
  for (unsigned i = 0; i < K + M; i++)
    all[i] = memcpy(stripe[i], data + 64 * i, LEN);
  for (size_t len = 512; len <= LEN; len += kind == GFSMITH_CRC16_T10 ? 512 : 73) {
    uint64_t one[K + M] = {0}, two[K + M] = {0}, checked[K + M] = {0};
    bool ok = false;
    REQUIRE(gfsmith_encode_checksums(codec, kind, len, all, parity[0], one) == GFSMITH_OK);
    REQUIRE(gfsmith_encode(codec, len, all, parity[1]) == GFSMITH_OK);
    for (unsigned i = 0; i < K + M; i++) {
      const uint8_t *shard = i < K ? all[i] : other[i - K];
      REQUIRE(gfsmith_checksum_update(kind, &two[i], len, shard) == GFSMITH_OK);
      REQUIRE(one[i] == two[i]);
    }
    REQUIRE(gfsmith_check_checksums(codec, kind, len, all, checked, &ok) == GFSMITH_OK);
    REQUIRE(ok && memcmp(one, checked, sizeof one) == 0);
    printf("shards %d %" PRIx64 "\n", (int)kind, one[K + M - 1]);
  }
  gfsmith_codec_destroy(codec);
}

/* The sketch of a whole is the sum of those of its pieces. */
static void sketches(void) {
  gfsmith_sketch *tables;
  REQUIRE(gfsmith_sketch_create(&tables, GFSMITH_POLYNOMIAL) == GFSMITH_OK);
  uint8_t whole[GFSMITH_SKETCH_BYTES] = {0};
  REQUIRE(gfsmith_sketch_add(tables, whole, 77, BYTES, data) == GFSMITH_OK);
  for (size_t at = 0; at <= BYTES; at += 997) {
    uint8_t sum[GFSMITH_SKETCH_BYTES] = {0};
    REQUIRE(gfsmith_sketch_add(tables, sum, 77 + at, BYTES - at, data + at) == GFSMITH_OK);
    REQUIRE(gfsmith_sketch_add(tables, sum, 77, at, data) == GFSMITH_OK);
    REQUIRE(memcmp(sum, whole, sizeof sum) == 0);
  }
  printf("sketch");
  for (size_t n = 0; n < sizeof whole; n++)
    printf(" %d", whole[n]);
  printf("\n");
  gfsmith_sketch_destroy(tables);
}

/* Calls that are refused and write nothing: no such check, a state with too many bits, NULL, T10
 * with another sector, a rest of a sector. */
static void refused(void) {
  const gfsmith_checksum none[] = {(gfsmith_checksum)-1, (gfsmith_checksum)KINDS};
  uint64_t state = 5, wide = (uint64_t)1 << 32;
  for (unsigned n = 0; n < 2; n++) {
    REQUIRE(gfsmith_checksum_update(none[n], &state, 1, data) == GFSMITH_EINVAL);
    REQUIRE(gfsmith_checksum_combine(none[n], &state, 0, 1) == GFSMITH_EINVAL);
    REQUIRE(gfsmith_checksum_sectors(none[n], 512, 512, data, &state) == GFSMITH_EINVAL);
  }
  REQUIRE(gfsmith_checksum_update(GFSMITH_CRC32C, NULL, 1, data) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_checksum_update(GFSMITH_CRC32C, &wide, 1, data) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_checksum_update(GFSMITH_CRC32C, &state, 1, NULL) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_checksum_update(GFSMITH_CRC32C, &state, 0, NULL) == GFSMITH_OK);
  REQUIRE(gfsmith_checksum_combine(GFSMITH_CRC32C, NULL, 0, 1) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_checksum_combine(GFSMITH_CRC32C, &wide, 0, 1) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_checksum_combine(GFSMITH_CRC32C, &state, wide, 1) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_checksum_sectors(GFSMITH_CRC16_T10, 1024, 4096, data, &state) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_checksum_sectors(GFSMITH_CRC32C, 0, 0, data, &state) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_checksum_sectors(GFSMITH_CRC32C, 512, 511, data, &state) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_checksum_sectors(GFSMITH_CRC32C, 512, 512, NULL, &state) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_checksum_sectors(GFSMITH_CRC32C, 512, 512, data, NULL) == GFSMITH_EINVAL);
  REQUIRE(gfsmith_checksum_sectors(GFSMITH_CRC32C, 512, 0, NULL, NULL) == GFSMITH_OK);
  REQUIRE(state == 5 && wide == (uint64_t)1 << 32);
}

int main(int argc, char **argv) {
  uint64_t seed = 1;
  if (argc > 1 && argv[1][0] != '\0')
    REQUIRE(gfsmith_set_isa(argv[1]) == GFSMITH_OK);
  for (size_t n = 0; n < BYTES; n++)
    data[n] = (uint8_t)reference_random(&seed);
  for (int kind = 0; kind < KINDS; kind++) {
    lengths((gfsmith_checksum)kind);
    pieces((gfsmith_checksum)kind);
    sectors((gfsmith_checksum)kind);
    shards((gfsmith_checksum)kind);
  }
  sketches();
  refused();
  return 0;
}
