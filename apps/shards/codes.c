/* The names and shapes of codes, for messages. */
#include "codes.h"

#include "report.h"

#include <gfsmith.h>
#include <stdio.h>
#include <string.h>

typedef struct code_row {
  const char *name;
  const char *shapes; /* at which it can repair every loss of m shards, unless it is lrc */
} code_row;

static const code_row codes[] = {
    /* begin facts: shapes of codes in C */
    /* clang-format off */
    {"vandermonde", "k >= 1, m >= 1, k + m <= 255, and one of: m <= 3; m = 4, k <= 21; m = 5, k <= 5; m <= 21, k <= 4; k <= 3"},
    {"cauchy", "k >= 1, m >= 1, k + m <= 255"},
    {"backblaze", "k >= 1, m >= 1, k + m <= 255"},
    {"klauspost", "k >= 1, m >= 1, k + m <= 255"},
    {"minio", "k >= 1, m >= 1, k + m <= 255"},
    {"seaweedfs", "k >= 1, m >= 1, k + m <= 255"},
    {"reed-solomon-erasure", "k >= 1, m >= 1, k + m <= 255"},
    {"lch", "k >= 1, m >= 1, k + m <= 255"},
    {"cauchy_orig", "k >= 1, m >= 1, k + m <= 255"},
    {"cauchy_good", "k >= 1, m >= 1, k + m <= 255"},
    {"plank_vandermonde", "k >= 1, m >= 1, k + m <= 255, and one of: m <= 3; k <= 2"},
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

#define LRC_EXAMPLE "-c lrc -k 12 -m 4 -l 2"

static int refuse_name(const char *name) {
  char names[1024] = "";
  size_t used = 0;
  for (size_t i = 0; i < CODES && used < sizeof names; i++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                             codes[i].name);
  return refuse("code \"%s\" is unknown; allowed: %s", name, names);
}

static const code_row *find(const char *name) {
  for (size_t i = 0; i < CODES; i++)
    if (strcmp(name, codes[i].name) == 0)
      return &codes[i];
  return NULL;
}

static int check_lrc(const code_row *row, const options *opt) {
  gfsmith_codec *codec = NULL;
  if (opt->l == 0)
    return refuse("code lrc needs -l L, the number of its groups; such as " LRC_EXAMPLE);
  unsigned r = opt->m > opt->l ? opt->m - opt->l : 0;
  gfsmith_status status = gfsmith_codec_create_lrc(&codec, opt->k, opt->l, r);
  gfsmith_codec_destroy(codec);
  if (status == GFSMITH_EINVAL)
    return refuse("code lrc has no shape k = %u, m = %u, l = %u; allowed: %s, where m = l + r; "
                  "such as " LRC_EXAMPLE,
                  opt->k, opt->m, opt->l, row->shapes);
  return status == GFSMITH_OK ? TOOL_OK : refuse("code lrc: %s", gfsmith_strerror(status));
}

static int check_named(const code_row *row, const options *opt) {
  gfsmith_codec *codec = NULL;
  gfsmith_status status = gfsmith_codec_create(&codec, row->name, opt->k, opt->m);
  gfsmith_codec_destroy(codec);
  if (status == GFSMITH_EINVAL)
    return refuse("code %s has no shape k = %u, m = %u; allowed: %s", row->name, opt->k, opt->m,
                  row->shapes);
  if (status == GFSMITH_ENOTMDS)
    return refuse("code %s cannot repair every loss with k = %u, m = %u; allowed: %s; cauchy can "
                  "at every shape",
                  row->name, opt->k, opt->m, row->shapes);
  return status == GFSMITH_OK ? TOOL_OK
                              : refuse("code %s: %s", row->name, gfsmith_strerror(status));
}

int codes_check(const options *opt) {
  const code_row *row = find(opt->code);
  if (row == NULL)
    return refuse_name(opt->code);
  if (strcmp(row->name, "lrc") == 0)
    return check_lrc(row, opt);
  if (opt->l != 0)
    return refuse("code %s has no groups: only lrc takes -l, such as " LRC_EXAMPLE, row->name);
  return check_named(row, opt);
}
