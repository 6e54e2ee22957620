/* stripe: split a file into k + m shards, verify, repair and join them. See README.md. */
#include "commands.h"
#include "report.h"
#include "shardfile.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 14 blocks of the default shape are 896 KiB: they stay in the second-level cache from the read to
 * the last write, and each read and write is large enough to amortize the system call. */
enum { DEFAULT_K = 10, DEFAULT_M = 4, DEFAULT_BLOCK = 64 * 1024 };

static const char usage[] =
    "usage: stripe split [-c CODE] [-k K] [-m M] [-b BLOCK] [--force] FILE FOLDER\n"
    "       stripe verify SHARD...|FOLDER\n"
    "       stripe repair [--force] SHARD...|FOLDER\n"
    "       stripe join [--force] SHARD...|FOLDER -o FILE\n"
    "       stripe info SHARD...\n"
    "  -c, --code CODE    cauchy (default) or vandermonde\n"
    "  -k, --data K       data shards (default 10)\n"
    "  -m, --parity M     parity shards (default 4); any K of the K + M shards restore the file\n"
    "  -b, --block BLOCK  bytes of a shard in one stripe (default 65536)\n"
    "  -o, --output FILE  output file of join\n"
    "  -f, --force        replace existing files\n"
    "  -q, --quiet        no progress bar\n"
    "  -h, --help         this text\n"
    "exit status: 0 done; 1 verify or info found damaged or missing shards; 2 refused, nothing "
    "changed\n";

typedef struct command {
  const char *name;
  const char *flags; /* short options of split, repair and join */
  size_t least;
  size_t most;
  int (*run)(const options *);
} command;

static const command commands[] = {
    {"split", "ckmbf", 2, 2, command_split},      {"verify", "", 1, SIZE_MAX, command_verify},
    {"repair", "f", 1, SIZE_MAX, command_repair}, {"join", "of", 1, SIZE_MAX, command_join},
    {"info", "", 1, SIZE_MAX, command_info},
};

static const struct option long_options[] = {
    {"code", required_argument, NULL, 'c'},
    {"data", required_argument, NULL, 'k'},
    {"parity", required_argument, NULL, 'm'},
    {"block", required_argument, NULL, 'b'},
    {"output", required_argument, NULL, 'o'},
    {"force", no_argument, NULL, 'f'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int number(const char *flag, const char *text, unsigned least, unsigned most,
                  unsigned *value) {
  char *end;
  errno = 0;
  unsigned long n = strtoul(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || n < least || n > most)
    return refuse("%s %s: must be a whole number from %u to %u", flag, text, least, most);
  *value = (unsigned)n;
  return STRIPE_OK;
}

static int apply(options *opt, int flag) {
  switch (flag) {
  case 'c':
    opt->code = optarg;
    return STRIPE_OK;
  case 'k':
    return number("-k", optarg, 1, SHARD_MAX_SHARDS - 1, &opt->k);
  case 'm':
    return number("-m", optarg, 1, SHARD_MAX_SHARDS - 1, &opt->m);
  case 'b':
    return number("-b", optarg, SHARD_BLOCK_UNIT, SHARD_MAX_BLOCK, &opt->block);
  case 'o':
    opt->output = optarg;
    return STRIPE_OK;
  case 'f':
    opt->force = true;
    return STRIPE_OK;
  default: /* 'q' */
    opt->quiet = true;
    return STRIPE_OK;
  }
}

static int parse(options *opt, const command *chosen, int argc, char **argv) {
  int flag;
  int status = STRIPE_OK;
  while (status == STRIPE_OK &&
         (flag = getopt_long(argc, argv, "c:k:m:b:o:fqh", long_options, NULL)) != -1) {
    if (flag == '?')
      return STRIPE_REFUSED; /* getopt has printed a message */
    if (flag == 'h') {
      fputs(usage, stdout);
      exit(STRIPE_OK);
    }
    if (flag != 'q' && strchr(chosen->flags, flag) == NULL)
      return refuse("%s has no option -%c", chosen->name, flag);
    status = apply(opt, flag);
  }
  if (status != STRIPE_OK)
    return status;
  opt->paths = argv + optind;
  opt->count = (size_t)(argc - optind);
  if (opt->count < chosen->least || opt->count > chosen->most)
    return refuse("%s: wrong number of arguments (stripe --help)", chosen->name);
  if (strchr(chosen->flags, 'o') != NULL && opt->output == NULL)
    return refuse("%s: -o FILE is missing", chosen->name);
  return STRIPE_OK;
}

static const command *find_command(const char *name) {
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
    if (strcmp(commands[i].name, name) == 0)
      return &commands[i];
  return NULL;
}

int main(int argc, char **argv) {
  options opt = {.code = "cauchy", .k = DEFAULT_K, .m = DEFAULT_M, .block = DEFAULT_BLOCK};
  if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    fputs(usage, stdout);
    return STRIPE_OK;
  }
  const command *chosen = argc >= 2 ? find_command(argv[1]) : NULL;
  if (chosen == NULL) {
    fputs(usage, stderr);
    return STRIPE_REFUSED;
  }
  argv[1] = argv[0]; /* the beginning of getopt's messages */
  int status = parse(&opt, chosen, argc - 1, argv + 1);
  if (status != STRIPE_OK)
    return status;
  report_catch_signals();
  status = chosen->run(&opt);
  if (report_interrupted())
    report_die_by_signal();
  if (fflush(stdout) != 0)
    return refuse("cannot write to standard output: %s", strerror(errno));
  return status;
}
