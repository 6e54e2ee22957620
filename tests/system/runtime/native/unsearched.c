/* A planner that never searches and takes the lightest parities: linked with
 * --wrap=gfs_search_possible. */
#include <stdbool.h>

bool __wrap_gfs_search_possible(unsigned width, unsigned spares, unsigned targets);

bool __wrap_gfs_search_possible(unsigned width, unsigned spares, unsigned targets) {
  (void)width;
  (void)spares;
  (void)targets;
  return false;
}
