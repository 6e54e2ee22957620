/* sandbox: calls in the strict mode of seccomp, which permits reading and writing of open files
 * only, and forbids reading the time stamp counter. */
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gfsmith_checksum.h"
#include "reference.h"

enum { K = 10, M = 4, SHORT = 4096, LONG = 100000 };

static uint8_t memory[K + M][LONG];
static uint8_t *shards[K + M];
static const bool present[K + M] = {[1] = true, true, true, true, true, true, true,
                                    true,       true, true, true, true, true};

/* All statuses are GFSMITH_OK, and the parities match in the end. */
static bool calls(const gfsmith_codec *codec, size_t len) {
  const uint8_t *const *all = (const uint8_t *const *)shards;
  uint64_t states[K + M] = {0}, again[K + M] = {0};
  bool same = false, match = false;
  return gfsmith_encode(codec, len, all, shards + K) == GFSMITH_OK &&
         gfsmith_update(codec, len, 3, shards[0], shards + K) == GFSMITH_OK &&
         gfsmith_update(codec, len, 3, shards[0], shards + K) == GFSMITH_OK &&
         gfsmith_reconstruct(codec, len, shards, present, NULL) == GFSMITH_OK &&
         gfsmith_check(codec, len, all, &same) == GFSMITH_OK && same &&
         gfsmith_encode_checksums(codec, GFSMITH_CRC32C, len, all, shards + K, states) ==
             GFSMITH_OK &&
         gfsmith_check_checksums(codec, GFSMITH_CRC32C, len, all, again, &match) == GFSMITH_OK &&
         match && memcmp(states, again, sizeof states) == 0;
}

static void in_sandbox(gfsmith_hint hint, size_t len) {
  gfsmith_codec *codec;
  REQUIRE(gfsmith_codec_create(&codec, "cauchy", K, M) == GFSMITH_OK);
  REQUIRE(gfsmith_codec_hint(codec, hint) == GFSMITH_OK);
  REQUIRE(gfsmith_reconstruct(codec, 1, shards, present, NULL) ==
          GFSMITH_OK); /* plans the repair */
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bool strict = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
    syscall(SYS_exit, strict && calls(codec, len) ? 42 : 1);
  }
  int status;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 42);
  gfsmith_codec_destroy(codec);
}

int main(void) {
  for (unsigned n = 0; n < K + M; n++) {
    shards[n] = memory[n];
    memset(memory[n], (int)(n + 1), LONG);
  }
  in_sandbox(GFSMITH_HINT_AUTO, SHORT);
  in_sandbox(GFSMITH_HINT_CACHED, LONG);
  in_sandbox(GFSMITH_HINT_STREAMING, LONG);
  puts("ok");
  return 0;
}
