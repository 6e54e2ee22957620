/* The files that a new set protects. */
#ifndef TOOL_PAR2_SOURCES_H
#define TOOL_PAR2_SOURCES_H

#include <sys/stat.h>

#include "options.h"
#include "par2_set.h"

/* A set of files below the folder of its name, with their ids and blocks but no checksums; infos:
 * their states. TOOL_REFUSED after a message. Free the set and *infos in any case. */
int par2_sources(par2_set *set, struct stat **infos, const char *name, char *const *paths,
                 size_t count, const options *opt);

/* TOOL_REFUSED after a message if a file is another one than before. */
int par2_sources_unchanged(const par2_set *set, const struct stat *infos);

#endif
