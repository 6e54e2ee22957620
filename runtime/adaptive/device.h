/* device.h: what is known of the memory. */
#ifndef GFS_DEVICE_H
#define GFS_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gfs_device {
  char name[48];     /* letters, digits, and of punctuation . _ + - and space */
  unsigned line;     /* bytes that it reads at once: a power of two, 64..4096 */
  unsigned buffer;   /* bytes of its read buffer, 0: none; all channels together */
  unsigned latency;  /* nanoseconds of a load at low pressure; 0: not known */
  unsigned streams;  /* that the processor's stream prefetcher follows, 1..4096 */
  unsigned channels; /* 1..64 */
} gfs_device;

/* DRAM: lines of 64 bytes, no buffer, 32 streams (observation 3 of the paper: 32 to Cascade Lake,
 * 64 from Ice Lake on). */
void gfs_device_defaults(gfs_device *device);

/* Read a description: a file of TOML with one table [device] of the keys above. All that it does
 * not say is as gfs_device_defaults has it. False if it is not one; then *device is as it was, and
 * why[0 .. size) says what is wrong in one sentence. */
bool gfs_device_read(const char *file, gfs_device *device, char *why, size_t size);

#endif
