/* Prints the SHA-256 of standard input in hexadecimal digits, by the library's function. */
#include <stdio.h>
#include <stdlib.h>

#include "sha256.h"

int main(void) {
  size_t size = 0, room = 1 << 20;
  uint8_t *data = malloc(room);
  uint8_t digest[GFS_SHA256_BYTES];
  while (data != NULL && !feof(stdin) && !ferror(stdin)) {
    size += fread(data + size, 1, room - size, stdin);
    if (size == room)
      data = realloc(data, room *= 2);
  }
  if (data == NULL)
    return 1;
  gfs_sha256(data, size, digest);
  for (unsigned i = 0; i < GFS_SHA256_BYTES; i++)
    printf("%02x", digest[i]);
  free(data);
  return 0;
}
