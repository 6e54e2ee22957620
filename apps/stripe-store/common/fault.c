#include "fault.h"

#include "files.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *fault_folder;
static char fault_file[64];

void fault_begin(const char *folder, const char *name) {
  fault_folder = folder;
  snprintf(fault_file, sizeof fault_file, "fault.%s", name);
}

int fault_point(const char *point) {
  char text[FILES_TEXT], path[FILES_PATH], action[8], wanted[64];
  if (fault_folder == NULL || !files_read(fault_folder, fault_file, text) ||
      sscanf(text, "%7s %63s", action, wanted) != 2 || strcmp(wanted, point) != 0 ||
      !files_path(path, fault_folder, fault_file))
    return 0;
  unlink(path);
  if (strcmp(action, "fail") == 0)
    return 1;
  raise(strcmp(action, "kill") == 0 ? SIGKILL : SIGSTOP);
  return 0;
}
