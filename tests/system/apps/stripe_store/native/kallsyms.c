/* Preloaded into the programs under test: replaces the list of the kernel's symbols by an empty
 * one.
 *
 * Debian's libfabric (its verbs provider) reads /proc/kallsyms twice whenever a process starts: 0.1
 * s of computing, more than all other work of a chunk server in most of these tests. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

FILE *fopen(const char *path, const char *mode) {
  FILE *(*real)(const char *, const char *);
  *(void **)&real = dlsym(RTLD_NEXT, "fopen");
  return real(strcmp(path, "/proc/kallsyms") == 0 ? "/dev/null" : path, mode);
}
