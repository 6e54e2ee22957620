/* carryless: print the bytes of a block of the checksum routines that the library chooses; 0: it
 * has none with a carry-less multiplication. Argument: an instruction set, "" for the automatic
 * choice.
 */
#include <stdio.h>

#include "crc.h"
#include "gfsmith.h"

int main(int argc, char **argv) {
  if (argc > 1 && argv[1][0] != '\0' && gfsmith_set_isa(argv[1]) != GFSMITH_OK)
    return 1;
  printf("%zu\n", gfs_crc_set_now()->block);
  return 0;
}
