#include "dispatch.h"

#include <stdbool.h>
#include <string.h>

#include "cpu.h"
#include "inlining.h"
#include "printable.h"
#include "tuned.h"

#if !defined(GFSMITH_SINGLE_ISA)
#include <stdio.h>
#include <stdlib.h>
#endif

/* gfs_dispatch_wider: the fewest outputs, and the part of the inputs that may be added, if a
 * product is one instruction and otherwise. Measured on Zen 4
 * (docs/batches.md#kernels-of-more-sources). */
#define WIDER_OUTPUTS 3u
#define WIDER_PART_AFFINE 2u
#define WIDER_PART 4u

/* is_superfluous: on Zen 4, up to 14 sources with 1 or 2 parities lose up to a tenth at 1 MiB. More
 * outputs have no other kernels that store around the cache. */
#define FOLLOWED_INPUTS 14u
#define FOLLOWED_OUTPUTS 4u

static const gfs_isa isas[] = {
#define GFSMITH_ISA(name, format, features)                                                        \
  {#name, GFS_ISA_##name, GFS_FORMAT_##format, (features)},
#include "isas.inc"
#undef GFSMITH_ISA
};

typedef struct kernel_row {
  gfsmith_kernel *run;
  gfs_isa_id isa;
  gfs_operation operation;
  unsigned inputs; /* 0: any number */
  unsigned outputs;
  gfs_store store;
  unsigned prefetch; /* bytes ahead; 0: none */
  gfs_format format;
} kernel_row;

static const kernel_row kernels[] = {
#define GFSMITH_KERNEL(symbol, isa, operation, inputs, outputs, unroll, store, prefetch, format)   \
  {symbol,   GFS_ISA_##isa,      GFS_OPERATION_##operation, inputs, outputs, GFS_STORE_##store,    \
   prefetch, GFS_FORMAT_##format},
#include "kernels.inc"
#undef GFSMITH_KERNEL
};

static const gfs_isa *find_isa(const char *name) {
  for (unsigned i = 0; i < GFS_ISAS; i++)
    if (strcmp(isas[i].name, name) == 0)
      return &isas[i];
  return NULL;
}

#if defined(GFSMITH_SINGLE_ISA)

/* The only instruction set, independent of the CPU: the builder of such a library has to choose a
 * suitable one. */
const gfs_isa *gfs_dispatch_isa(void) { return isas; }

gfsmith_status gfsmith_set_isa(const char *name) {
  return name != NULL && find_isa(name) != NULL ? GFSMITH_OK : GFSMITH_EINVAL;
}

#else

/* Apart from `here` of tuned.c (the CPU) and the caches of raid.c and crc_kernels.c the only
 * variable of the library. */
_Atomic(const gfs_isa *) gfs_dispatch_current;

static bool supported(const gfs_isa *isa, uint32_t features) {
  return (isa->features & ~features) == 0;
}

static const gfs_isa *best_isa(uint32_t features) {
  for (unsigned i = 0; i < GFS_ISAS; i++)
    if (supported(&isas[i], features))
      return &isas[i];
  return NULL;
}

/* Write one line in one call, so that lines of several threads or processes do not mix. */
static void complain(const char *name, bool known, uint32_t features) {
  char allowed[256] = "", shown[65];
  size_t used = 0;
  for (unsigned i = 0; i < GFS_ISAS; i++) {
    size_t length = strlen(isas[i].name);
    if (!supported(&isas[i], features) || used + length + 2 > sizeof allowed)
      continue;
    allowed[used] = ' ';
    memcpy(allowed + used + 1, isas[i].name, length + 1);
    used += length + 1;
  }
  fprintf(stderr, "gfsmith: GFSMITH_ISA=%s %s; allowed here:%s; choosing automatically\n",
          gfs_printable(shown, sizeof shown, name),
          known ? "is not supported by this CPU" : "is unknown", allowed);
}

/* The instruction set that the environment requests if it is available, else the best. *complaint:
 * the name of an unavailable one that it requests, or NULL. */
static const gfs_isa *initial_isa(uint32_t features, const char **complaint) {
  const char *name = getenv("GFSMITH_ISA");
  *complaint = NULL;
  if (name != NULL && name[0] != '\0') {
    const gfs_isa *isa = find_isa(name);
    if (isa != NULL && supported(isa, features))
      return isa;
    *complaint = name;
  }
  return best_isa(features);
}

static GFS_NOT_INLINED const gfs_isa *choose_isa(void) {
  const gfs_isa *isa = NULL;
  uint32_t features = gfs_cpu_features();
  const char *complaint;
  const gfs_isa *initial = initial_isa(features, &complaint);
  /* Of several threads that arrive here together, one decides for all, and only that thread
   * complains. */
  if (!atomic_compare_exchange_strong(&gfs_dispatch_current, &isa, initial))
    return isa;
  if (complaint != NULL)
    complain(complaint, find_isa(complaint) != NULL, features);
  return initial;
}

const gfs_isa *gfs_dispatch_isa(void) {
  const gfs_isa *isa = gfs_dispatch_known_isa();
  return isa != NULL ? isa : choose_isa();
}

/* Let the next call of gfsmith_raid.h with each number of shards look up its kernel. */
static void forget_sums(void) {
  for (unsigned m = 0; m < GFS_SUMS_PARITIES; m++)
    for (unsigned k = 0; k <= GFS_SUMS_DATA; k++)
      atomic_store(&gfs_dispatch_sums[m].most[k], 0);
}

gfsmith_status gfsmith_set_isa(const char *name) {
  const gfs_isa *isa = name != NULL ? find_isa(name) : NULL;
  if (isa == NULL)
    return GFSMITH_EINVAL;
  if (!supported(isa, gfs_cpu_features()))
    return GFSMITH_EUNSUPPORTED;
  atomic_store(&gfs_dispatch_current, isa);
  /* After the change: see find_updates in crc.c and enter_short in raid.c. */
  atomic_store(&gfs_dispatch_updates, NULL);
  forget_sums();
  return GFSMITH_OK;
}

#endif

_Atomic(const struct gfs_crc_updates *) gfs_dispatch_updates;

gfs_short_sums gfs_dispatch_sums[GFS_SUMS_PARITIES];

const char *gfsmith_isa(void) {
  const gfs_isa *isa = gfs_dispatch_isa();
  return isa != NULL ? isa->name : "none";
}

static unsigned streaming_rank(gfs_path path, unsigned prefetch) {
  if (prefetch > 0 && prefetch <= GFS_PREFETCH_NEAR)
    return path == GFS_PATH_distant ? 5 : 3;
  return prefetch > 0 ? 4 : 3;
}

unsigned gfs_dispatch_rank(gfsmith_kernel *run, gfs_path path, gfs_store store, unsigned prefetch) {
  gfs_tuning tuning = gfs_tuned(run, path);
  if (tuning != GFS_TUNING_NONE)
    return tuning == GFS_TUNING_HERE ? GFS_RANK_TUNED : 0;
  if (store == GFS_STORE_streaming)
    return path >= GFS_PATH_distant ? streaming_rank(path, prefetch) : 0;
  if (prefetch > 0)
    return gfs_path_is_cached(path) ? 0 : 2;
  return 1;
}

/* Is this a kernel that prefetches, for any number of inputs, although the prefetchers of the CPU
 * follow these few inputs of long shards? */
static bool is_superfluous(const kernel_row *row, unsigned inputs, gfs_path path) {
  return path == GFS_PATH_bulk && row->inputs == 0 && row->prefetch > 0 &&
         row->outputs <= FOLLOWED_OUTPUTS && 0 < inputs && inputs <= FOLLOWED_INPUTS;
}

static bool suits(const kernel_row *row, const gfs_isa *isa, gfs_format format,
                  gfs_operation operation, unsigned inputs, unsigned outputs) {
  return row->isa == isa->id && row->operation == operation &&
         (row->inputs == inputs || row->inputs == 0) && row->outputs == outputs &&
         row->format == format;
}

gfsmith_kernel *gfs_dispatch_kernel(const gfs_isa *isa, gfs_operation operation, unsigned inputs,
                                    unsigned outputs, gfs_path path) {
  bool tables = operation != GFS_OPERATION_xor && operation != GFS_OPERATION_horner;
  gfs_format format = tables ? isa->format : GFS_FORMAT_none;
  return gfs_dispatch_kernel_reading(isa, format, operation, inputs, outputs, path);
}

gfsmith_kernel *gfs_dispatch_kernel_reading(const gfs_isa *isa, gfs_format format,
                                            gfs_operation operation, unsigned inputs,
                                            unsigned outputs, gfs_path path) {
  const kernel_row *best = NULL, *tuned = NULL;
  unsigned best_rank = 0;
  for (size_t n = 0; n < sizeof kernels / sizeof kernels[0]; n++) {
    const kernel_row *row = &kernels[n];
    if (!suits(row, isa, format, operation, inputs, outputs) || is_superfluous(row, inputs, path))
      continue;
    unsigned rank = gfs_dispatch_rank(row->run, path, row->store, row->prefetch);
    if (rank == GFS_RANK_TUNED && row->inputs == 0) {
      tuned = row; /* it was measured with another number of inputs */
      continue;
    }
    /* The location of the data has more influence than a run-time number of inputs. */
    rank = rank > 0 ? 2 * rank + (row->inputs != 0) : 0;
    if (rank > best_rank) {
      best = row;
      best_rank = rank;
    }
  }
  if (tuned != NULL && (best == NULL || best->inputs == 0))
    best = tuned;
  return best != NULL ? best->run : NULL;
}

/* Is this a kernel with tables and streaming stores for a fixed number of inputs? */
static bool is_wide(const kernel_row *row, const gfs_isa *isa, unsigned outputs) {
  return row->inputs > 0 && row->store == GFS_STORE_streaming &&
         suits(row, isa, isa->format, GFS_OPERATION_dot, row->inputs, outputs) &&
         gfs_dispatch_rank(row->run, GFS_PATH_bulk, row->store, row->prefetch) > 0;
}

unsigned gfs_dispatch_wider(const gfs_isa *isa, unsigned inputs, unsigned outputs) {
  unsigned part = isa->format == GFS_FORMAT_affine ? WIDER_PART_AFFINE : WIDER_PART;
  unsigned found = inputs + inputs / part + 1;
  if (outputs < WIDER_OUTPUTS)
    return 0;
  for (size_t n = 0; n < sizeof kernels / sizeof kernels[0]; n++) {
    unsigned wide = kernels[n].inputs;
    if (wide >= inputs && wide < found && is_wide(&kernels[n], isa, outputs))
      found = wide;
  }
  return found > inputs && found <= inputs + inputs / part ? found : 0;
}

gfs_traits gfs_dispatch_traits(gfsmith_kernel *run) {
  for (size_t n = 0; n < sizeof kernels / sizeof kernels[0]; n++)
    if (kernels[n].run == run)
      return (gfs_traits){kernels[n].store, kernels[n].prefetch,
                          kernels[n].operation == GFS_OPERATION_dot && kernels[n].inputs == 0};
  return (gfs_traits){GFS_STORE_temporal, 0, false};
}
