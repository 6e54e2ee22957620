/* Load on memory: copies one half of a buffer to the other and back, repeatedly.
 *
 *   load MIB PROCESSOR
 *
 * Prints "ready" at the start and runs until it is stopped. PROCESSOR: index among the allowed
 * processors. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void keep_to(long n) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  sched_getaffinity(0, sizeof allowed, &allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &allowed) && n-- == 0)
      CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char **argv) {
  size_t half = argc == 3 ? strtoul(argv[1], NULL, 10) << 19 : 0;
  char *buffer = half > 0 ? malloc(2 * half) : NULL;
  if (buffer == NULL) {
    fprintf(stderr, "usage: load MIB PROCESSOR\n");
    return 2;
  }
  keep_to(strtol(argv[2], NULL, 10));
  memset(buffer, 0x5a, 2 * half);
  puts("ready");
  fflush(stdout);
  for (;;) {
    memcpy(buffer, buffer + half, half);
    memcpy(buffer + half, buffer, half);
    __asm__ volatile("" ::: "memory");
  }
}
