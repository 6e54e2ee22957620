// Two libraries in one C++ program: both headers in one file, and the self-tests of both.
#include "acme.h"
#include "gfsmith.h"

#include <cstdlib>

extern "C" int gfsmith_selftest();
extern "C" int acme_selftest();

int main() {
  // Each has its own instruction set and its own variable.
  if (gfsmith_set_isa("scalar") != GFSMITH_OK || acme_set_isa("sse") != ACME_OK)
    return 1;
  if (gfsmith_isa()[1] != 'c' || acme_isa()[1] != 's')
    return 2;
  return gfsmith_selftest() + acme_selftest();
}
