/* The result of a command as one JSON object on stdout. */
#ifndef TOOL_JSON_H
#define TOOL_JSON_H

#include "par2_scan.h"
#include "set.h"

/* The set, its state and the state of each shard. command: its name. result: "intact", ... */
void json_set(const char *command, const char *result, const shard_set *set);
/* The set that protect has written to a folder. */
void json_protected(const gfsmith_shards_header *header, uint64_t length, const char *folder);
/* A set of PAR2; found: the state of its files, or NULL. */
void json_par2(const char *command, const char *result, const par2_set *set,
               const par2_found *found, size_t recovery);

#endif
