/* The files that a new set protects. */
#ifndef TOOL_PAR2_SOURCES_H
#define TOOL_PAR2_SOURCES_H

#include "options.h"
#include "par2_set.h"

/* A set of files below the folder of its name, with their ids, states and blocks but no checksums.
 * TOOL_REFUSED after a message. Free the set in any case. */
int par2_sources(par2_set *set, const char *name, char *const *paths, size_t count,
                 const options *opt);

/* TOOL_REFUSED after a message if a file is another one than before. */
int par2_sources_unchanged(const par2_set *set);

#endif
