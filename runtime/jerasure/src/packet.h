/* packet.h: sums of packets. */
#ifndef GFS_JERASURE_PACKET_H
#define GFS_JERASURE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GFS_JERASURE_LAYOUT                                                                        \
  "k, w and packetsize must be positive, size a multiple of w * packetsize"

/* Are regions of w packets a division of `size` bytes? */
static inline bool gfs_jerasure_is_layout(int w, int size, int packetsize) {
  return w >= 1 && packetsize >= 1 && size >= 0 && size % ((int64_t)w * packetsize) == 0;
}

enum { GFS_JERASURE_SOURCES = 64 };

/* A sum that is being collected: the first packets replace the destination, which stays as it is if
 * there are none; sources are added a number at a time. */
typedef struct gfs_jerasure_packets {
  size_t size; /* of a packet in bytes */
  uint8_t *to;
  bool adds;      /* the packets are added to the destination */
  unsigned count; /* of the packets that are not added yet */
  const uint8_t *from[GFS_JERASURE_SOURCES];
} gfs_jerasure_packets;

/* Add a packet to the sum. */
void gfs_jerasure_packets_add(gfs_jerasure_packets *sum, const uint8_t *packet);

/* Compute the rest of the sum. */
void gfs_jerasure_packets_end(gfs_jerasure_packets *sum);

#endif
