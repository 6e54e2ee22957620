/* Options of a command line, with one line for each mistake. */
#ifndef STORE_OPTIONS_H
#define STORE_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>

/* Returned by option_next after a message. */
enum { OPTION_WRONG = '?' };

/* As getopt_long: the next option, or -1 after the last one. No value may be empty: a script passes
 * an empty one for a variable that is not set. letters: begins with ':'. */
int option_next(int argc, char **argv, const char *letters, const struct option *options);
/* Check that the argument FOLDER is not empty; otherwise print a message. */
bool option_folder(const char *folder);

#endif
