/* The examination of a set, before it is reported or repaired. */
#ifndef TOOL_PAR2_VERIFY_H
#define TOOL_PAR2_VERIFY_H

#include "par2_scan.h"

/* Read the set that the arguments name and its files, and report all damage. TOOL_REFUSED after a
 * message. Free both in any case. */
int par2_examine(par2_set *set, par2_found *found, const options *opt);
void par2_say(const par2_found *found);

/* Files that are not intact. */
size_t par2_unsound(const par2_found *found);
/* Those of them that the set lists without recovery blocks. */
size_t par2_unprotected(const par2_found *found);
/* Are there enough recovery blocks for the lost blocks? */
bool par2_determined(const par2_found *found);

#endif
