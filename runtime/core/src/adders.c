#include "adders.h"

#include <stdlib.h>

static void find(gfs_adder *adder, const gfs_isa *isa, unsigned outputs) {
  for (gfs_path path = 0; path < GFS_PATHS; path++) {
    adder->set[path] = gfs_dispatch_kernel(isa, GFS_OPERATION_dot, 1, outputs, path);
    for (unsigned n = 0; n < GFS_SOURCES_MAX; n++)
      adder->add[n][path] = gfs_dispatch_kernel(isa, GFS_OPERATION_mad, n + 1, outputs, path);
  }
}

gfsmith_status gfs_adders_create(gfs_adders **out, const gfs_isa *isa, const gfs_map *encoder) {
  gfs_adders *adders = malloc(sizeof *adders + encoder->mads * sizeof(gfs_adder));
  if (adders == NULL)
    return GFSMITH_ENOMEM;
  *adders = (gfs_adders){.most = GFS_SOURCES_MAX, .sets = true};
  const gfs_pass *pass = encoder->pass + encoder->dots;
  for (unsigned n = 0; n < encoder->mads; n++) {
    gfs_adder *adder = &adders->pass[n];
    if (n > 0 && pass[n].outputs == pass[n - 1].outputs)
      *adder = adder[-1];
    else
      find(adder, isa, pass[n].outputs);
    adders->sets = adders->sets && adder->set[GFS_PATH_cached] != NULL;
    for (unsigned count = adders->most; count > 0; count--)
      if (adder->add[count - 1][GFS_PATH_cached] == NULL)
        adders->most = count - 1;
  }
  *out = adders;
  return GFSMITH_OK;
}
