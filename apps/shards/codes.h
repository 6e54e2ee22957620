/* The codes of a set. */
#ifndef TOOL_CODES_H
#define TOOL_CODES_H

#include "options.h"

/* Can this build encode the chosen code and shape? TOOL_REFUSED after a message that names the
 * allowed codes or shapes. */
int codes_check(const options *opt);

#endif
