/* Versions of a set. The id of a set does not change if the files change behind their first 16 KiB
 * and keep their lengths, so a set that is made again has the id of the old one, and packets for
 * other bytes. */
#ifndef TOOL_PAR2_VERSIONS_H
#define TOOL_PAR2_VERSIONS_H

#include "par2_packets.h"

/* Find the files with packets of another version than that of the set's own files. They are the
 * first `own` ones, of which the very first one, if it is `name`, tells the version.
 * TOOL_REFUSED after a message, if the version is unknown. */
int par2_versions_find(par2_packets *packets, const uint8_t *set, const char *name, size_t own);

#endif
