#include "settings.h"

#include "common/options.h"
#include "common/record.h"
#include "common/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: stripe-agent [options] FOLDER\n"
    "  FOLDER               contains `key`; `agent`, `client` and `group` are written there\n"
    "  --scheme NAME        rs (default), lrc, ppr, ecpipe, triec\n"
    "  -k N, -m N           data and parity chunks of a value (3, 2)\n"
    "  --groups L, --global R  lrc: number of groups and of global parities, instead of -m\n"
    "  --slice BYTES        size of the slices sent through a graph; 0: whole chunks (0)\n"
    "  --listen HOST:PORT   numeric address for clients; port 0: any (127.0.0.1:0)\n"
    "  --listen-netns FILE  network namespace of the clients (that of this program)\n"
    "  --fabric HOST:PORT   numeric address for chunk servers (127.0.0.1:0)\n"
    "  --value-max BYTES    size of the largest value, up to 1G (1M)\n"
    "  --memory BYTES       limit for all values in transit (256M)\n"
    "  --deadline MS        deadline of a command, 100 to 600000 (5000)\n"
    "  --max-clients N      most clients at a time, 1 to 1000000 (1000)\n"
    "  --auth               clients authenticate themselves with a line USER:PASSWORD of the file\n"
    "                       `passwords` in FOLDER\n"
    "  --tls                clients use TLS, with the certificate `tls.crt` and its key `tls.key`\n"
    "                       in FOLDER\n"
    "  --idle SECONDS       close clients that send no command; 0: never (0)\n"
    "  --stall SECONDS      close clients that stop within a command, do not read answers\n"
    "                       or do not log in (30)\n"
    "  --degraded weibull:SHAPE:RATE[:LOST]  read as if LOST (1) chunks were missing, at random\n"
    "  --seed N             seed of --degraded (1)\n"
    "  --provider NAME      libfabric provider (tcp)\n"
    "  --trace FOLDER       append a line for each operation to the file 0 in FOLDER\n"
    "  -h, --help           this text\n"
    "BYTES: a number such as 4096, or with a unit 64K, 1M or 2G\n"
    "exit status: 0 stopped by SIGTERM or SIGINT; 2 refused\n";

static const struct option long_options[] = {
    {"scheme", required_argument, NULL, 's'},
    {"groups", required_argument, NULL, 'L'},
    {"global", required_argument, NULL, 'R'},
    {"slice", required_argument, NULL, 'S'},
    {"listen", required_argument, NULL, 'l'},
    {"listen-netns", required_argument, NULL, 'n'},
    {"fabric", required_argument, NULL, 'f'},
    {"value-max", required_argument, NULL, 'v'},
    {"memory", required_argument, NULL, 'M'},
    {"deadline", required_argument, NULL, 'd'},
    {"degraded", required_argument, NULL, 'w'},
    {"seed", required_argument, NULL, 'e'},
    {"provider", required_argument, NULL, 'p'},
    {"trace", required_argument, NULL, 't'},
    {"max-clients", required_argument, NULL, 'c'},
    {"auth", no_argument, NULL, 'A'},
    {"tls", no_argument, NULL, 'T'},
    {"idle", required_argument, NULL, 'i'},
    {"stall", required_argument, NULL, 'a'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool small(const char *flag, unsigned least, unsigned most, unsigned *value) {
  unsigned long long n;
  if (!parse_number(flag, optarg, least, most, &n))
    return false;
  *value = (unsigned)n;
  return true;
}

static bool large(const char *flag, uint64_t least, uint64_t most, uint64_t *value) {
  unsigned long long n;
  if (!parse_number(flag, optarg, least, most, &n))
    return false;
  *value = n;
  return true;
}

static bool bytes(const char *flag, uint64_t least, uint64_t most, uint64_t *value) {
  unsigned long long n;
  if (!parse_bytes(flag, optarg, least, most, &n))
    return false;
  *value = n;
  return true;
}

static bool slice(settings *o) {
  uint64_t n;
  if (!bytes("--slice", 0, 1u << 30, &n))
    return false;
  o->layout.slice = (unsigned)n;
  return true;
}

static bool where(const char *flag, address *a) {
  if (address_parse(a, optarg))
    return true;
  report("%s %s: must be HOST:PORT", flag, optarg);
  return false;
}

static bool scheme(settings *o) {
  if (strlen(optarg) < sizeof o->layout.scheme) {
    strcpy(o->layout.scheme, optarg);
    return true;
  }
  report("--scheme %s: must be rs, lrc, ppr, ecpipe or triec", optarg);
  return false;
}

static bool apply_layout(settings *o, int flag) {
  switch (flag) {
  case 's':
    return scheme(o);
  case 'k':
    return small("-k", 1, LAYOUT_SHARDS_MAX - 1, &o->layout.k);
  case 'm':
    return small("-m", 1, LAYOUT_SHARDS_MAX - 1, &o->layout.m);
  case 'L':
    return small("--groups", 1, LAYOUT_SHARDS_MAX, &o->layout.l);
  case 'R':
    return small("--global", 1, LAYOUT_SHARDS_MAX, &o->layout.r);
  case 'S':
    return slice(o);
  default:
    return false; /* OPTION_WRONG */
  }
}

static bool apply_clients(settings *o, int flag) {
  switch (flag) {
  case 'c':
    return small("--max-clients", 1, 1000000, &o->clients_max);
  case 'A':
    return o->auth = true;
  case 'T':
    return o->tls = true;
  case 'i':
    return small("--idle", 0, 86400, &o->idle_s);
  case 'a':
    return small("--stall", 1, 86400, &o->stall_s);
  default:
    return apply_layout(o, flag);
  }
}

static bool apply(settings *o, int flag) {
  switch (flag) {
  case 'l':
    return where("--listen", &o->listen);
  case 'n':
    o->listen_netns = optarg;
    return true;
  case 'f':
    return where("--fabric", &o->fabric);
  case 'v':
    return bytes("--value-max", 1, RECORD_VALUE_MAX, &o->value_max);
  case 'M':
    return bytes("--memory", 1 << 20, UINT64_C(1) << 40, &o->memory_max);
  case 'd':
    return small("--deadline", 100, 600000, &o->deadline_ms);
  case 'w':
    o->degraded = optarg;
    return true;
  case 'e':
    return large("--seed", 0, UINT64_MAX, &o->seed);
  case 'p':
    o->provider = optarg;
    return true;
  case 't':
    o->trace = optarg;
    return true;
  case 'h':
    fputs(usage, stdout);
    exit(EXIT_DONE);
  default:
    return apply_clients(o, flag);
  }
}

/* A chunk has at most GFSMITH_SLICES_MAX slices. */
static bool check_slice(const settings *o) {
  uint64_t chunk = (o->value_max - 1) / o->layout.k + 1,
           least = (chunk - 1) / GFSMITH_SLICES_MAX + 1;
  if (o->layout.slice == 0 || o->layout.slice >= least)
    return true;
  report("--slice %u: must be 0 or at least %llu for values of %llu bytes (--value-max)",
         o->layout.slice, (unsigned long long)least, (unsigned long long)o->value_max);
  return false;
}

static bool check_layout(const settings *o) {
  char reason[GFSMITH_REASON_MAX];
  if (layout_valid(&o->layout, reason))
    return check_slice(o);
  report("%s", reason);
  return false;
}

bool settings_parse(settings *o, int argc, char **argv) {
  int flag;
  *o = (settings){.layout = {.scheme = "rs", .k = 3},
                  .value_max = 1 << 20,
                  .memory_max = 256 << 20,
                  .seed = 1,
                  .deadline_ms = 5000,
                  .clients_max = 1000,
                  .stall_s = 30};
  address_parse(&o->listen, "127.0.0.1:0");
  address_parse(&o->fabric, "127.0.0.1:0");
  while ((flag = option_next(argc, argv, ":k:m:h", long_options)) != -1)
    if (!apply(o, flag))
      return false;
  if (argc - optind != 1) {
    report("one FOLDER is needed (--help)");
    return false;
  }
  o->folder = argv[optind];
  if (!option_folder(o->folder))
    return false;
  if (o->layout.l + o->layout.r > 0 && o->layout.m == 0)
    o->layout.m = o->layout.l + o->layout.r;
  if (o->layout.m == 0)
    o->layout.m = 2;
  return check_layout(o);
}
