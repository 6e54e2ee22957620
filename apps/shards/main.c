/* gfsmith-shards: protect files, folders and pipes against loss and damage. See README.md. */
#include "../common/numbers.h"
#include "../common/streams.h"
#include "commands.h"
#include "par2_format.h"
#include "report.h"

#include <errno.h>
#include <getopt.h>
#include <gfsmith_shards.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KNOWN ":c:k:m:l:b:n:o:r:ft:jqh" /* of getopt */

/* 14 blocks of the default shape are 896 KiB: they stay in the second-level cache from the read to
 * the last write, and each read and write is large enough to amortize the system call. */
enum { DEFAULT_K = 10, DEFAULT_M = 4, DEFAULT_BLOCK = 64 * 1024, BLOCK_UNIT = 64 };
enum { MOST_THREADS = 256 };

/* Of PAR2: 256 MiB hold the blocks of 1 GiB with 10 % recovery blocks, read once. */
enum { DEFAULT_REDUNDANCY = 10, MOST_REDUNDANCY = 100, DEFAULT_MEMORY = 256 };
enum { MIB = 1 << 20, MOST_MEMORY = 1 << 20, PAR2_UNIT = 4, MOST_PAR2_BLOCK = 1 << 30 };

enum {
  WORD = 1,
  VERSION = 'V',
  BLOCKS = 'B',
  MEMORY = 'M'
}; /* results of getopt_long besides the letters of KNOWN */

static const char usage[] =
    "usage: gfsmith-shards protect [OPTIONS] FILE|FOLDER|- SHARDS\n"
    "       gfsmith-shards verify [OPTIONS] SHARD...|SHARDS\n"
    "       gfsmith-shards repair [OPTIONS] SHARD...|SHARDS\n"
    "       gfsmith-shards restore [OPTIONS] SHARD...|SHARDS -o FILE|FOLDER|-\n"
    "       gfsmith-shards info SHARD...|SHARDS\n"
    "       gfsmith-shards par2 create [OPTIONS] SET.par2 FILE|FOLDER...\n"
    "       gfsmith-shards par2 verify|repair [OPTIONS] SET.par2 [FILE...]\n"
    "Splits FILE, FOLDER or standard input into K + M shards in the folder SHARDS. Any K of them\n"
    "restore it; with lrc, any M - L + 1 may be missing.\n"
    "  -c, --code CODE    a code of `gfsmith codes` but zerasure and cerasure (default cauchy)\n"
    "  -k, --data K       data shards (default 10)\n"
    "  -m, --parity M     parity shards (default 4)\n"
    "  -l, --groups L     with lrc: groups with a local parity each\n"
    "  -b, --block BLOCK  bytes of a shard in a stripe, a multiple of 64 such as 1M (default "
    "64K);\n"
    "                     par2: bytes of a block, a multiple of 4\n"
    "      --blocks N     par2: at most N blocks (default 2000)\n"
    "  -r, --redundancy P par2: recovery blocks in percent of the blocks (default 10)\n"
    "      --memory MIB   par2: memory for blocks, such as 512 or 2G (default 256)\n"
    "  -n, --name NAME    of the original (default: the last part of its path; stdin)\n"
    "  -o, --output PATH  where to restore; - is standard output\n"
    "  -f, --force        protect: the next generation; restore: replace the file\n"
    "  -t, --threads N    at most N threads (default: one for each CPU)\n"
    "  -j, --json         the result as one JSON object\n"
    "  -q, --quiet        no progress\n"
    "  -h, --help         this text\n"
    "      --version      the version\n"
    "`split` is another name of protect, `join` of restore. par2 writes recovery blocks next to\n"
    "files, which must be below the folder of SET.par2, and repairs them; the format is PAR2 2.0.\n"
    "exit status: 0 done; 1 verify found damage or something missing, or info a damaged header;\n"
    "2 refused or failed\n";

typedef struct command {
  const char *name;
  const char *flags; /* short options besides -h */
  size_t least;
  size_t most;
  const char *arguments;
  int (*run)(const options *);
} command;

static const command commands[] = {
    {"protect", "ckmlbnftjq", 2, 2, "FILE|FOLDER|- SHARDS", command_protect},
    {"verify", "tjq", 1, SIZE_MAX, "SHARD...|SHARDS", command_verify},
    {"repair", "tjq", 1, SIZE_MAX, "SHARD...|SHARDS", command_repair},
    {"restore", "oftjq", 1, SIZE_MAX, "SHARD...|SHARDS -o FILE|FOLDER|-", command_restore},
    {"info", "q", 1, SIZE_MAX, "SHARD...|SHARDS", command_info},
    {"split", "ckmlbnftjq", 2, 2, "FILE|FOLDER|- SHARDS", command_protect},
    {"par2 create", "brtjqBM", 2, SIZE_MAX, "SET.par2 FILE|FOLDER...", command_par2_create},
    {"par2 verify", "tjqM", 1, SIZE_MAX, "SET.par2 [FILE...]", command_par2_verify},
    {"par2 repair", "tjqM", 1, SIZE_MAX, "SET.par2 [FILE...]", command_par2_repair},
    {"join", "oftjq", 1, SIZE_MAX, "SHARD...|SHARDS -o FILE|FOLDER|-", command_restore},
};

static const struct option long_options[] = {
    {"code", required_argument, NULL, 'c'},
    {"data", required_argument, NULL, 'k'},
    {"parity", required_argument, NULL, 'm'},
    {"groups", required_argument, NULL, 'l'},
    {"block", required_argument, NULL, 'b'},
    {"name", required_argument, NULL, 'n'},
    {"output", required_argument, NULL, 'o'},
    {"force", no_argument, NULL, 'f'},
    {"threads", required_argument, NULL, 't'},
    {"json", no_argument, NULL, 'j'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"blocks", required_argument, NULL, BLOCKS},
    {"redundancy", required_argument, NULL, 'r'},
    {"memory", required_argument, NULL, MEMORY},
    {"version", no_argument, NULL, VERSION},
    {NULL, 0, NULL, 0},
};

static int number(const char *option, unsigned most, unsigned *value) {
  uint64_t n;
  if (!number_read(optarg, strlen(optarg), &n) || n < 1 || n > most)
    return refuse("%s %s: must be a whole number from 1 to %u", option, optarg, most);
  *value = (unsigned)n;
  return TOOL_OK;
}

/* Bytes, with or without a unit. */
static int block(const char *option, unsigned unit, unsigned most, unsigned *value) {
  uint64_t n;
  if (!size_read(optarg, 1, &n) || n < 1 || n > most || n % unit != 0)
    return refuse("%s %s: must be a multiple of %u from %u to %u, such as 4096, 64K or 1M", option,
                  optarg, unit, unit, most);
  *value = (unsigned)n;
  return TOOL_OK;
}

/* MiB; a number with a unit is one of bytes. */
static int memory(const char *option, unsigned *value) {
  uint64_t n;
  if (!size_read(optarg, MIB, &n) || n < MIB || n / MIB > MOST_MEMORY || n % MIB != 0)
    return refuse("%s %s: must be from 1 to %d MiB, such as 256 or 2G", option, optarg,
                  MOST_MEMORY);
  *value = (unsigned)(n / MIB);
  return TOOL_OK;
}

/* option: its name as the user wrote it. */
static int apply(options *opt, const command *chosen, int flag, const char *option) {
  bool par2 = chosen->run == command_par2_create;
  switch (flag) {
  case 'c':
    opt->code = optarg;
    return TOOL_OK;
  case 'k':
    return number(option, GFSMITH_MAX_SHARDS - 1, &opt->k);
  case 'm':
    return number(option, GFSMITH_MAX_SHARDS - 1, &opt->m);
  case 'l':
    return number(option, GFSMITH_MAX_SHARDS - 1, &opt->l);
  case 'b':
    return par2 ? block(option, PAR2_UNIT, MOST_PAR2_BLOCK, &opt->block)
                : block(option, BLOCK_UNIT, GFSMITH_SHARDS_MAX_BLOCK, &opt->block);
  case BLOCKS:
    return number(option, PAR2_MOST_BLOCKS, &opt->blocks);
  case 'r':
    return number(option, MOST_REDUNDANCY, &opt->redundancy);
  case MEMORY:
    return memory(option, &opt->memory);
  case 't':
    return number(option, MOST_THREADS, &opt->threads);
  case 'n':
    opt->name = optarg;
    return TOOL_OK;
  case 'o':
    opt->output = optarg;
    return TOOL_OK;
  default:
    opt->force |= flag == 'f';
    opt->json |= flag == 'j';
    opt->quiet |= flag == 'q';
    return TOOL_OK;
  }
}

/* The options of a command, such as "--threads, --json, --help". */
static void list_options(const command *chosen, char *text, size_t size) {
  size_t used = 0;
  for (const struct option *o = long_options; o->name != NULL && used < size; o++)
    if (strchr(chosen->flags, o->val) != NULL || o->val == 'h')
      used += (size_t)snprintf(text + used, size - used, "%s--%s", used > 0 ? ", " : "", o->name);
}

static int refuse_foreign(const command *chosen, const char *option) {
  char allowed[256] = "";
  list_options(chosen, allowed, sizeof allowed);
  return refuse("%s has no option %s; allowed: %s", chosen->name, option, allowed);
}

/* getopt_long has stopped at an option that it does not accept. It sets optopt to 0 for an unknown
 * long option. */
static int refuse_option(const command *chosen, const char *word, bool lacks_value) {
  char letter[] = {'-', (char)optopt, '\0'};
  bool exists = optopt != 0 && strchr(KNOWN, optopt) != NULL;
  bool is_long = optopt == 0 || (exists && strncmp(word, "--", 2) == 0);
  int length = is_long ? (int)strcspn(word, "=") : 2;
  char option[128];
  snprintf(option, sizeof option, "%.*s", length, is_long ? word : letter);
  if (lacks_value)
    return refuse("%s: the value is missing (see --help)", option);
  if (exists)
    return refuse("%s takes no value (see --help)", option);
  return refuse_foreign(chosen, option);
}

/* --help and --version end the program. */
static void answer(int flag) {
  if (flag == 'h')
    fputs(usage, stdout);
  else if (flag == VERSION)
    printf("gfsmith-shards %s\n", gfsmith_version());
  else
    return;
  exit(TOOL_OK);
}

static int read_options(options *opt, const command *chosen, int argc, char **argv) {
  int flag, at = -1;
  int status = TOOL_OK;
  while (status == TOOL_OK && (flag = getopt_long(argc, argv, KNOWN, long_options, &at)) != -1) {
    char option[16];
    if (flag == '?' || flag == ':')
      return refuse_option(chosen, argv[optind - 1], flag == ':');
    answer(flag);
    if (at >= 0)
      snprintf(option, sizeof option, "--%s", long_options[at].name);
    else
      snprintf(option, sizeof option, "-%c", flag);
    at = -1;
    status = strchr(chosen->flags, flag) != NULL ? apply(opt, chosen, flag, option)
                                                 : refuse_foreign(chosen, option);
  }
  return status;
}

static int parse(options *opt, const command *chosen, int argc, char **argv) {
  int status = read_options(opt, chosen, argc, argv);
  if (status != TOOL_OK)
    return status;
  opt->paths = argv + optind;
  opt->count = (size_t)(argc - optind);
  if (opt->count < chosen->least || opt->count > chosen->most)
    return refuse("%s: %zu argument%s; allowed: %s", chosen->name, opt->count,
                  opt->count == 1 ? "" : "s", chosen->arguments);
  for (size_t i = 0; i < opt->count; i++)
    if (*opt->paths[i] == '\0')
      return refuse("%s: argument %zu is empty; allowed: %s", chosen->name, i + 1,
                    chosen->arguments);
  if (opt->block != 0 && opt->blocks != 0)
    return refuse("%s: --block and --blocks exclude each other", chosen->name);
  if (chosen->run == command_protect && opt->block == 0)
    opt->block = DEFAULT_BLOCK;
  if (strchr(chosen->flags, 'o') != NULL && (opt->output == NULL || *opt->output == '\0'))
    return refuse("%s: -o PATH is %s", chosen->name, opt->output == NULL ? "missing" : "empty");
  return TOOL_OK;
}

static const command *find_command(const char *name) {
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
    if (strcmp(commands[i].name, name) == 0)
      return &commands[i];
  return NULL;
}

/* Moves the command before its options, since both orders are allowed. Returns its name, or NULL.
 */
static const char *command_first(int argc, char **argv) {
  int flag;
  while ((flag = getopt_long(argc, argv, "-" KNOWN, long_options, NULL)) != -1 && flag != WORD)
    answer(flag);
  int at = flag == WORD ? optind - 1 : optind; /* or the word after "--" */
  optind = 0;                                  /* the next call of getopt_long starts again */
  if (at >= argc)
    return NULL;
  char *name = argv[at];
  memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof *argv);
  return argv[1] = name;
}

static void refuse_command(const char *name) {
  static const char par2[] = "create, verify, repair (see --help)";
  if (strcmp(name, "par2") == 0)
    refuse("par2: the command is missing; allowed: %s", par2);
  else if (strncmp(name, "par2 ", 5) == 0)
    refuse("par2: unknown command %s; allowed: %s", name + 5, par2);
  else
    refuse("%s%s: allowed commands: protect, verify, repair, restore, info, par2 create, "
           "par2 verify, par2 repair (see --help)",
           *name != '\0' ? "unknown command " : "no command", name);
}

/* The command that the first word names, or the first two with "par2". Moves *argc and *argv to its
 * arguments. NULL after a message. */
static const command *read_command(int *argc, char ***argv) {
  char name[64] = "";
  for (bool more = true; more;) {
    const char *word = command_first(*argc, *argv);
    size_t used = strlen(name);
    if (word != NULL)
      snprintf(name + used, sizeof name - used, "%s%s", used > 0 ? " " : "", word);
    more = word != NULL && used == 0 && strcmp(word, "par2") == 0;
    --*argc;
    ++*argv;
  }
  const command *chosen = find_command(name);
  if (chosen == NULL)
    refuse_command(name);
  return chosen;
}

int main(int argc, char **argv) {
  if (!streams_occupy())
    return refuse("cannot open /dev/null: %s", strerror(errno));
  options opt = {.code = "cauchy",
                 .k = DEFAULT_K,
                 .m = DEFAULT_M,
                 .redundancy = DEFAULT_REDUNDANCY,
                 .memory = DEFAULT_MEMORY};
  unsetenv("POSIXLY_CORRECT"); /* with it, getopt ends the options at the first argument */
  const command *chosen = read_command(&argc, &argv);
  int status = chosen != NULL ? parse(&opt, chosen, argc, argv) : TOOL_REFUSED;
  if (status != TOOL_OK)
    return status;
  if (opt.json)
    report_mute();
  report_catch_signals();
  status = chosen->run(&opt);
  if (report_interrupted())
    report_die_by_signal();
  /* Some file systems, such as NFS, report at the end that a file could not be written. */
  bool written = !ferror(stdout) && fflush(stdout) == 0 && close(STDOUT_FILENO) == 0;
  return written || status == TOOL_REFUSED
             ? status
             : refuse("cannot write to standard output: %s", strerror(errno));
}
