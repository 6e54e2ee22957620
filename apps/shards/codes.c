/* The names and shapes of codes, for messages. */
#include "codes.h"

#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct code_row {
  const char *name;
  const char *shapes;
} code_row;

static const code_row codes[] = {
    /* begin facts: shapes of codes in C */
    /* clang-format off */
    {"vandermonde", "k >= 1, m >= 1, k + m <= 255"},
    {"cauchy", "k >= 1, m >= 1, k + m <= 255"},
    {"backblaze", "k >= 1, m >= 1, k + m <= 255"},
    {"klauspost", "k >= 1, m >= 1, k + m <= 255"},
    {"minio", "k >= 1, m >= 1, k + m <= 255"},
    {"seaweedfs", "k >= 1, m >= 1, k + m <= 255"},
    {"reed-solomon-erasure", "k >= 1, m >= 1, k + m <= 255"},
    {"lch", "k >= 1, m >= 1, k + m <= 255"},
    {"cauchy_orig", "k >= 1, m >= 1, k + m <= 255"},
    {"cauchy_good", "k >= 1, m >= 1, k + m <= 255"},
    {"plank_vandermonde", "k >= 1, m >= 1, k + m <= 255"},
    {"reed_sol_van", "k >= 1, m >= 1, k + m <= 255"},
    {"reed_sol_r6_op", "k >= 1, m = 2, k + m <= 255"},
    {"hdfs", "k >= 1, m >= 1, k + m <= 255"},
    {"hadoop", "k >= 1, m >= 1, k + m <= 255"},
    {"raid6", "k >= 1, m = 2, k + m <= 255"},
    {"md", "k >= 1, m = 2, k + m <= 255"},
    {"btrfs", "k >= 1, m = 2, k + m <= 255"},
    {"raidz", "k >= 1, 1 <= m <= 3, k + m <= 255"},
    {"zfs", "k >= 1, 1 <= m <= 3, k + m <= 255"},
    {"openzfs", "k >= 1, 1 <= m <= 3, k + m <= 255"},
    {"snapraid", "1 <= k <= 251, 1 <= m <= 6, k + m <= 255"},
    {"zfec", "k >= 1, m >= 1, k + m <= 255"},
    {"tahoe-lafs", "k >= 1, m >= 1, k + m <= 255"},
    {"lrc", "1 <= l <= k, r >= 1, k + l + r <= 255"},
    /* clang-format on */
    /* end facts */
};
enum { CODES = sizeof codes / sizeof codes[0] };

static int refuse_name(const char *name) {
  char names[1024] = "";
  size_t used = 0;
  for (size_t i = 0; i < CODES && used < sizeof names; i++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                             codes[i].name);
  return refuse("code \"%s\" is unknown; allowed: %s", name, names);
}

int codes_check(const gfsmith_shards_header *header) {
  gfsmith_codec *codec = NULL;
  gfsmith_status status =
      strcmp(header->code, "lrc") == 0
          ? gfsmith_codec_create_lrc(&codec, header->k, header->l, header->m - header->l)
          : gfsmith_codec_create(&codec, header->code, header->k, header->m);
  gfsmith_codec_destroy(codec);
  if (status == GFSMITH_OK)
    return TOOL_OK;
  if (status != GFSMITH_EINVAL)
    return refuse("code %s with k = %" PRIu32 ", m = %" PRIu32 ": %s%s", header->code, header->k,
                  header->m, gfsmith_strerror(status),
                  status == GFSMITH_ENOTMDS ? " (cauchy can at every shape)" : "");
  for (size_t i = 0; i < CODES; i++)
    if (strcmp(header->code, codes[i].name) == 0)
      return refuse("code %s has no shape k = %" PRIu32 ", m = %" PRIu32 "; allowed: %s",
                    header->code, header->k, header->m, codes[i].shapes);
  return refuse_name(header->code);
}
