/* privileged WHETHER: a program that may (0) or must not (1) obey its environment, as the C library
 * would say. It creates a coordinator and reports how many descriptors from 3 on a program that it
 * executes would inherit. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "gfsmith_adaptive.h"

static int privileged;

/* Replaces the function of the C library. */
char *secure_getenv(const char *name);
char *secure_getenv(const char *name) { return privileged ? NULL : getenv(name); }

int main(int argc, char **argv) {
  gfsmith_adaptive *adaptive;
  privileged = argc > 1 && atoi(argv[1]);
  if (gfsmith_adaptive_create(&adaptive, NULL) != GFSMITH_OK)
    return 1;
  int inherited = 0;
  for (int fd = 3; fd < 20; fd++) {
    int flags = fcntl(fd, F_GETFD);
    inherited += flags >= 0 && (flags & FD_CLOEXEC) == 0;
  }
  gfsmith_adaptive_destroy(adaptive);
  printf("%d\n", inherited);
  return 0;
}
