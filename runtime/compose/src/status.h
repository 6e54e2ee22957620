/* Status codes and error descriptions. */
#ifndef GFC_STATUS_H
#define GFC_STATUS_H

#include "gfsmith_compose.h"

/* Write a formatted description into a reason of GFSMITH_REASON_MAX bytes; NULL is allowed. */
void gfc_words(char *reason, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
