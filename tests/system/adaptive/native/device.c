/* Reads descriptions of devices and prints one line for each file: its contents, or the error in
 * it. */
#include <stdio.h>

#include "device.h"

int main(int argc, char **argv) {
  for (int n = 1; n < argc; n++) {
    gfs_device d;
    char why[160];
    gfs_device_defaults(&d);
    if (gfs_device_read(argv[n], &d, why, sizeof why))
      printf("%s|%u|%u|%u|%u|%u\n", d.name, d.line, d.buffer, d.latency, d.streams, d.channels);
    else
      printf("! %s\n", why);
  }
  return 0;
}
