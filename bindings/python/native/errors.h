/* Exceptions of gfsmith.codec.errors for gfsmith_status. */
#ifndef GFSMITH_ERRORS_H
#define GFSMITH_ERRORS_H

#include <stdbool.h>

/* Set the exception of a gfsmith_status with this message; always returns false. */
bool raise_status(int status, const char *format, ...);

#endif
