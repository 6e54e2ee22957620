/* SHA-256 (FIPS 180-4) of bytes in memory, for gfsmith_check_kernels. */
#ifndef GFSMITH_SHA256_H
#define GFSMITH_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define GFS_SHA256_BYTES 32

void gfs_sha256(const uint8_t *data, size_t size, uint8_t digest[GFS_SHA256_BYTES]);

#endif
