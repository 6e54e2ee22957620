/* Files of which a device can read only a part, for example because of bad sectors. */
#ifndef TOOL_MEDIUM_H
#define TOOL_MEDIUM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Is this the errno of a read that the device or the file system cannot do because of damage? */
bool medium_failed(int error);
/* The position at which a file is read again after the byte at `at` could not be read: behind its
 * page. *failures counts them in a row; the caller sets it to 0 after bytes that were read. After
 * some, each skips twice as many bytes, so that a device that reads nothing any more does not keep
 * the program busy for hours. */
uint64_t medium_behind(uint64_t at, unsigned *failures);

/* As read_at, but a read that fails once is no damage and is repeated. */
ssize_t medium_read(int fd, void *bytes, size_t size, uint64_t at);
/* The same, but the bytes before one that the device cannot read count: -1 if it is the first. */
ssize_t medium_read_part(int fd, void *bytes, size_t size, uint64_t at);

#endif
