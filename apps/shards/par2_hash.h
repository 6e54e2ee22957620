/* Checksums of pieces of files. */
#ifndef TOOL_PAR2_HASH_H
#define TOOL_PAR2_HASH_H

#include <stdbool.h>
#include <stdint.h>

#include "par2_set.h"

enum { PAR2_PIECE = 32 * 1024 }; /* bytes read at a time */

/* After a read that failed: errno, or PAR2_SHORTER if the file has ended. par2_reason is its text.
 */
enum { PAR2_SHORTER = -1 };
int par2_read_error(void);
const char *par2_reason(int error);

/* Continue a checksum by zeros. */
void par2_add_zeros(par2_checksums *sums, md5 *sum, uint64_t count);

/* The checksums of `length` bytes of a file, padded with zeros to `block` bytes. False and errno
 * (0: the file ends before) if they cannot be read. */
bool par2_hash_block(int fd, uint64_t start, uint64_t length, uint64_t block, par2_checksums *sums);
/* The same without the MD5, which is the only one for which zeros take time. */
bool par2_crc_block(int fd, uint64_t start, uint64_t length, uint64_t block, par2_checksums *sums);

/* The register of the CRC-32 after some zeros. */
uint32_t par2_after_zeros(uint32_t state, uint64_t count);

/* May more zeros behind short blocks be hashed, after so many, and so many bytes of files?
 * Otherwise a few small files would keep the program busy for hours. Adds `more` to *zeros if so.
 */
bool par2_may_pad(uint64_t *zeros, uint64_t more, uint64_t bytes);

/* Continue an MD5 by the bytes of a file from `start` to `end`; as par2_hash_block. */
bool par2_hash_range(int fd, uint64_t start, uint64_t end, md5 *sum);

#endif
