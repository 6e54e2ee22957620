/* Named points at which a test can stop a process. They exist only in the test build (-D
 * STORE_FAULTS). */
#ifndef STORE_FAULT_H
#define STORE_FAULT_H

#ifdef STORE_FAULTS
/* Set the file that names the point: FOLDER/fault.NAME. */
void fault_begin(const char *folder, const char *name);
/* If the file's text is "stop POINT", remove it and stop (SIGSTOP); if it is "kill POINT", remove
 * it and end by SIGKILL; if it is "fail POINT", remove it and return 1. Otherwise return 0. */
int fault_point(const char *point);
#else
#define fault_begin(folder, name) ((void)(folder), (void)(name))
#define fault_point(point) 0
#endif

#endif
