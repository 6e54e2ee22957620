/* packets.h: packet layout, in which a linear map over GF(2^8) consists of additions of packets.
 *
 * A shard is a sequence of regions of 8 packets of `packet` bytes. Bit b of the 8 packets of a
 * region is one element of the field; packet x holds the coefficients of 2^x. So the map acts
 * through its bit matrix, in which an element e is the 8 x 8 block whose column x holds the bits of
 * e * 2^x (Jerasure: jerasure_matrix_to_bitmatrix, w = 8).
 *
 * A schedule is a sequence of steps that compute this matrix. A step is one kernel for a known
 * matrix, or the sum of some packets, of inputs and of outputs of earlier steps. */
#ifndef GFS_PACKETS_H
#define GFS_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dispatch.h"
#include "field.h"
#include "gfsmith.h"

enum { GFS_PACKETS = 8 /* packets of a shard in a region */ };

/* A step: computes `outputs` packets from output number `first` on, either from all inputs by a
 * kernel for a known matrix, or one packet as the sum of the `sources` packets listed from
 * source[offset] on. */
typedef struct gfs_step {
  gfsmith_kernel *kernel;
  size_t offset;
  unsigned first;
  unsigned outputs;
  unsigned sources; /* 0: all inputs, or (kernel NULL) an empty sum: the packet is 0 */
} gfs_step;

/* Immutable after creation; one block of memory, freed by free(). */
typedef struct gfs_schedule {
  size_t bytes;     /* of the block */
  uint16_t *source; /* packet numbers: input j is j, output i is inputs + i */
  unsigned inputs;  /* packets: 8 for each shard */
  unsigned outputs;
  unsigned steps;
  gfs_step step[];
} gfs_schedule;

/* Create the schedule of a matrix of elements, `outputs` rows of `inputs`, at most
 * GFSMITH_MAX_SHARDS together. Errors: GFSMITH_ENOMEM, GFSMITH_EUNSUPPORTED (the build has no xor
 * kernels). */
gfsmith_status gfs_schedule_create(gfs_schedule **out, const gfs_isa *isa, const gfs_field *field,
                                   unsigned inputs, unsigned outputs, const uint8_t *matrix);

/* Compute the outputs from the inputs: shards of len bytes, a multiple of 8 * packet. */
void gfs_schedule_apply(const gfs_schedule *schedule, size_t packet, size_t len,
                        const uint8_t *const *src, uint8_t *const *dst);

/* Are dst[i] equal to the results of gfs_schedule_apply? */
bool gfs_schedule_matches(const gfs_schedule *schedule, size_t packet, size_t len,
                          const uint8_t *const *src, const uint8_t *const *dst);

/* The additional state of a codec in packet layout. */
typedef struct gfs_packets {
  size_t packet;
  gfs_schedule *encoder;
  gfsmith_kernel *add;           /* dst[0] += sum over j < k of src[j]; NULL: the build has none */
  uint8_t one[GFS_PACKETS * 32]; /* the coefficients of `add`: 8 times 1 */
} gfs_packets;

/* Create the state. Errors as gfs_schedule_create. */
gfsmith_status gfs_packets_create(gfs_packets **out, const gfs_isa *isa, const gfs_field *field,
                                  unsigned k, unsigned m, const uint8_t *matrix, size_t packet);

/* Free the state. NULL is allowed. */
void gfs_packets_free(gfs_packets *packets);

/* dst += element * src; both are one shard of len bytes. */
void gfs_packets_accumulate(const gfs_packets *packets, const gfs_field *field, size_t len,
                            uint8_t element, const uint8_t *src, uint8_t *dst);

#endif
