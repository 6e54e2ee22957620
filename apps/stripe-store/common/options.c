#include "options.h"

#include "report.h"

#include <stdio.h>
#include <string.h>

/* The option in a word, or the letter among several ones of a word. */
static void name_of(char *name, size_t size, const char *word, int letter) {
  if (letter != 0 && strncmp(word, "--", 2) != 0)
    snprintf(name, size, "-%c", letter);
  else
    snprintf(name, size, "%.*s", (int)strcspn(word, "="), word);
}

int option_next(int argc, char **argv, const char *letters, const struct option *options) {
  char name[64];
  int at = -1;
  opterr = 0; /* the messages are below */
  int flag = getopt_long(argc, argv, letters, options, &at);
  if (flag == '?' || flag == ':') {
    const struct option *known = options;
    while (known->name != NULL && (optopt == 0 || known->val != optopt))
      known++;
    name_of(name, sizeof name, argv[optind - 1], optopt);
    report(flag == ':'           ? "%s: the value is missing (see --help)"
           : known->name != NULL ? "%s takes no value (see --help)"
                                 : "%s: no such option (see --help)",
           name);
    return OPTION_WRONG;
  }
  if (flag == -1 || optarg == NULL || *optarg != '\0')
    return flag;
  if (at >= 0)
    report("--%s: the value is empty (see --help)", options[at].name);
  else
    report("-%c: the value is empty (see --help)", flag);
  return OPTION_WRONG;
}

bool option_folder(const char *folder) {
  if (*folder != '\0')
    return true;
  report("FOLDER is empty: must be the path of a folder (see --help)");
  return false;
}
