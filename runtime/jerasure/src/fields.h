/* fields.h: the field that is in use for each width. */
#ifndef GFS_JERASURE_FIELDS_H
#define GFS_JERASURE_FIELDS_H

#include "word.h"

/* The field of this width: the default one unless a program has installed another. Aborts if the
 * width is not 1 to 32. */
gf_t *gfs_jerasure_field(int w);

#endif
