/* options.h: the options of a coordinator, checked, and what the environment says. */
#ifndef GFS_OPTIONS_H
#define GFS_OPTIONS_H

#include <stdbool.h>

#include "gfsmith_adaptive.h"

/* The most that a trial remembers: calls of a run, rounds; and samples of a window. */
enum { GFS_RUN_MAX = 33, GFS_ROUNDS_MAX = 63, GFS_WINDOW_MAX = 63 };

/* Are all fields within their ranges? Files and the policy's text are not looked at. */
bool gfs_options_valid(const gfsmith_adaptive_options *options);

/* The defaults with what the environment has of trace, device and policy; "" is as not given. */
void gfs_options_environment(gfsmith_adaptive_options *options);

/* What GFSMITH_ADAPT says: 1 for on, 0 for off (also if it is not given), -1 for anything else. */
int gfs_options_wanted(void);

#endif
