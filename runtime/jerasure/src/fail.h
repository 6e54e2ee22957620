/* fail.h: calls that cannot report an error by their result. */
#ifndef GFS_JERASURE_FAIL_H
#define GFS_JERASURE_FAIL_H

/* Write a line with the function and the error to the standard error and abort, as Jerasure does
 * for wrong widths and sizes. */
_Noreturn void gfs_jerasure_fail(const char *function, const char *wrong);

#endif
