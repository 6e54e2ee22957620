#include "fail.h"

#include <stdio.h>
#include <stdlib.h>

void gfs_jerasure_fail(const char *function, const char *wrong) {
  fprintf(stderr, "%s: %s\n", function, wrong);
  abort();
}
