/* device.h: descriptions of memory. */
#ifndef GFS_DEVICE_H
#define GFS_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gfs_device {
  char name[48];     /* letters, digits, spaces and . _ + - */
  unsigned line;     /* bytes of a line, read at once: a power of two, 64 to 4096 */
  unsigned buffer;   /* bytes of the read buffer, all channels together; 0: none */
  unsigned latency;  /* nanoseconds of a load at low contention; 0: not known */
  unsigned streams;  /* number of streams that the CPU's stream prefetcher follows, 1 to 4096 */
  unsigned channels; /* 1 to 64 */
} gfs_device;

/* The description of DRAM: lines of 64 bytes, no buffer, 32 streams (observation 3 of the paper: 32
 * up to Cascade Lake, 64 from Ice Lake on). */
void gfs_device_defaults(gfs_device *device);

/* Parse a description: TOML with one table [device] with the keys above. Missing keys have the
 * values of gfs_device_defaults. False if it is invalid; *device is then unchanged, and why[0 ..
 * size) holds the reason in one sentence. */
bool gfs_device_parse(const char *text, size_t bytes, gfs_device *device, char *why, size_t size);

/* Parse the description in a file. */
bool gfs_device_read(const char *file, gfs_device *device, char *why, size_t size);

#endif
