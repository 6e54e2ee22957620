#include "dispatch.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "gfsmith.h"

/* Best first. */
static const gfs_isa isas[] = {
#define GFSMITH_ISA(name, format, features) {#name, GFS_FORMAT_##format, (features)},
#include "isas.inc"
#undef GFSMITH_ISA
};

/* Positions in isas, by name. */
enum {
#define GFSMITH_ISA(name, format, features) ISA_##name,
#include "isas.inc"
#undef GFSMITH_ISA
  ISA_COUNT
};

typedef enum store_policy { STORE_temporal, STORE_streaming } store_policy;

typedef struct kernel_row {
  gfsmith_kernel *run;
  unsigned isa; /* position in isas */
  gfs_operation operation;
  unsigned inputs; /* 0: any number */
  unsigned outputs;
  store_policy store;
  unsigned prefetch; /* bytes ahead, 0: none */
  gfs_format format;
} kernel_row;

static const kernel_row kernels[] = {
#define GFSMITH_KERNEL(symbol, isa, operation, inputs, outputs, unroll, store, prefetch, format)   \
  {symbol,        ISA_##isa, GFS_OPERATION_##operation, inputs, outputs,                           \
   STORE_##store, prefetch,  GFS_FORMAT_##format},
#include "kernels.inc"
#undef GFSMITH_KERNEL
};

/* The library's only variable. NULL: not chosen yet (or nothing to choose). */
static _Atomic(const gfs_isa *) current;

static bool supported(const gfs_isa *isa, uint32_t features) {
  return (isa->features & ~features) == 0;
}

static const gfs_isa *find_isa(const char *name) {
  for (unsigned i = 0; i < ISA_COUNT; i++)
    if (strcmp(isas[i].name, name) == 0)
      return &isas[i];
  return NULL;
}

static const gfs_isa *best_isa(uint32_t features) {
  for (unsigned i = 0; i < ISA_COUNT; i++)
    if (supported(&isas[i], features))
      return &isas[i];
  return NULL;
}

/* One line, in one call, so that lines of several threads or processes do not mix. */
static void complain(const char *name, bool known, uint32_t features) {
  char allowed[256] = "";
  size_t used = 0;
  for (unsigned i = 0; i < ISA_COUNT; i++) {
    size_t length = strlen(isas[i].name);
    if (!supported(&isas[i], features) || used + length + 2 > sizeof allowed)
      continue;
    allowed[used] = ' ';
    memcpy(allowed + used + 1, isas[i].name, length + 1);
    used += length + 1;
  }
  fprintf(stderr, "gfsmith: GFSMITH_ISA=%.64s %s; allowed here:%s; choosing automatically\n", name,
          known ? "is not supported by this CPU" : "is unknown", allowed);
}

/* What the environment asks for if it can be had, else the best. *complaint: the name that it asks
 * for in vain, or NULL. */
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

const gfs_isa *gfs_dispatch_isa(void) {
  const gfs_isa *isa = atomic_load_explicit(&current, memory_order_acquire);
  if (isa != NULL)
    return isa;
  uint32_t features = gfs_cpu_features();
  const char *complaint;
  const gfs_isa *initial = initial_isa(features, &complaint);
  /* Of threads that come here together, one decides for all, and it alone complains. */
  if (!atomic_compare_exchange_strong(&current, &isa, initial))
    return isa;
  if (complaint != NULL)
    complain(complaint, find_isa(complaint) != NULL, features);
  return initial;
}

const char *gfsmith_isa(void) {
  const gfs_isa *isa = gfs_dispatch_isa();
  return isa != NULL ? isa->name : "none";
}

gfsmith_status gfsmith_set_isa(const char *name) {
  const gfs_isa *isa = name != NULL ? find_isa(name) : NULL;
  if (isa == NULL)
    return GFSMITH_EINVAL;
  if (!supported(isa, gfs_cpu_features()))
    return GFSMITH_EUNSUPPORTED;
  atomic_store_explicit(&current, isa, memory_order_release);
  return GFSMITH_OK;
}

/* Codecs do not use prefetching and streaming kernels: which pays depends on where the shards are,
 * and nothing says that yet. */
static bool suits(const kernel_row *row, const gfs_isa *isa, gfs_operation operation,
                  unsigned inputs, unsigned outputs) {
  gfs_format format = operation == GFS_OPERATION_xor ? GFS_FORMAT_none : isa->format;
  return &isas[row->isa] == isa && row->operation == operation && row->inputs == inputs &&
         row->outputs == outputs && row->format == format && row->store == STORE_temporal &&
         row->prefetch == 0;
}

gfsmith_kernel *gfs_dispatch_kernel(const gfs_isa *isa, gfs_operation operation, unsigned inputs,
                                    unsigned outputs) {
  gfsmith_kernel *any = NULL;
  for (size_t n = 0; n < sizeof kernels / sizeof kernels[0]; n++) {
    if (suits(&kernels[n], isa, operation, inputs, outputs))
      return kernels[n].run;
    if (any == NULL && suits(&kernels[n], isa, operation, 0, outputs))
      any = kernels[n].run;
  }
  return any;
}
