/* The codes of a set. */
#ifndef TOOL_CODES_H
#define TOOL_CODES_H

#include <gfsmith_shards.h>

/* Can this build encode the code and shape of a header without a fault? TOOL_REFUSED after a
 * message that names the allowed codes or shapes. */
int codes_check(const gfsmith_shards_header *header);

#endif
