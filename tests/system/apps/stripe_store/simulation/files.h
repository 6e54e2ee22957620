/* The small files of the folder of the store, instead of a disk. */
#ifndef SIMULATION_FILES_H
#define SIMULATION_FILES_H

#include <stdbool.h>

/* No file can be written. */
void disk_fill(bool full);
/* The text of a file; NULL: there is none. */
const char *disk_text(const char *name);

#endif
