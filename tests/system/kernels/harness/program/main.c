/* main.c: the harness as a program, for emulated machines. Each request on standard input is one
 * line, and so is its answer:
 *
 *   run SYMBOL SWEEP N   runs the thin sweep (sweeps.c) with the N-th multiplication table of the
 *                        file in the first argument: "COUNT", or "-1 REASON"
 *   block SYMBOL         bytes of one iteration of the main loop
 *   count                kernels in the list
 */
#include "../machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_BYTES = 256 * 256, TABLES_MAX = 16 };

static uint8_t tables[TABLES_MAX][TABLE_BYTES];

static size_t read_tables(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    return 0;
  }
  size_t count = fread(tables, TABLE_BYTES, TABLES_MAX, file);
  fclose(file);
  return count;
}

static void answer(const char *line, size_t count) {
  char symbol[128], sweep[32], report[1024] = "";
  size_t table;
  if (sscanf(line, "run %127s %31s %zu", symbol, sweep, &table) == 3 && table < count) {
    long calls = harness_run(symbol, 0, sweep, true, tables[table], report, sizeof report);
    printf("%ld %s\n", calls, report);
  } else if (sscanf(line, "block %127s", symbol) == 1) {
    printf("%zu\n", harness_block_bytes(symbol));
  } else if (strcmp(line, "count\n") == 0) {
    printf("%zu\n", harness_kernel_count);
  } else {
    printf("-1 not a request: %s", line);
  }
  fflush(stdout);
}

int main(int argc, char **argv) {
  size_t count = argc == 2 ? read_tables(argv[1]) : 0;
  if (count == 0) {
    fprintf(stderr, "usage: %s TABLES, a file of multiplication tables of 64 KiB each\n", argv[0]);
    return 2;
  }
  machine_probe(); /* sets the length of vectors, on which the blocks depend */
  char line[256];
  while (fgets(line, sizeof line, stdin) != NULL) {
    answer(line, count);
  }
  return 0;
}
