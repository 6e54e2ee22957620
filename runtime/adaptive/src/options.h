/* options.h: the options of a coordinator, their ranges, and the environment variables. */
#ifndef GFS_OPTIONS_H
#define GFS_OPTIONS_H

#include <stdbool.h>

#include "gfsmith_adaptive.h"

/* Capacities: pieces of a run, rounds of a trial, samples of a window. */
enum { GFS_RUN_MAX = 33, GFS_ROUNDS_MAX = 63, GFS_WINDOW_MAX = 63 };

/* Are all fields within their ranges? File names and the policy are not checked. */
bool gfs_options_valid(const gfsmith_adaptive_options *options);

/* The defaults with trace, device and policy from the environment; "" counts as unset. */
void gfs_options_environment(gfsmith_adaptive_options *options);

/* The value of GFSMITH_ADAPT: 1 for on, 0 for off or unset, -1 for anything else. */
int gfs_options_wanted(void);

#endif
