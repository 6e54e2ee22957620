/* gfsmith-shards par2 verify: compares files with a set of PAR2 without changing anything. */
#include "par2_verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "json.h"
#include "medium.h"
#include "output.h"
#include "report.h"

size_t par2_unsound(const par2_found *found) {
  size_t count = 0;
  for (size_t f = 0; f < found->set->file_count; f++)
    count += found->states[f] != PAR2_INTACT;
  return count;
}

size_t par2_unprotected(const par2_found *found) {
  size_t count = 0;
  for (size_t f = 0; f < found->set->file_count; f++)
    count += found->set->files[f].first == SIZE_MAX && found->states[f] != PAR2_INTACT;
  return count;
}

bool par2_determined(const par2_found *found) { return found->lost <= found->set->recovery_count; }

static bool is_repairable(const par2_found *found) {
  return par2_determined(found) && par2_unprotected(found) == 0;
}

static const char *prospect(const par2_found *found) {
  if (is_repairable(found))
    return "can be repaired";
  bool part = par2_determined(found) && par2_unprotected(found) < par2_unsound(found);
  return part ? "can be repaired in part" : "cannot be repaired";
}

static void say_file(const par2_found *found, size_t f) {
  const par2_file *file = &found->set->files[f];
  const char *state = found->states[f] == PAR2_MISSING ? "missing" : "damaged";
  if (file->first == SIZE_MAX)
    say("%s: %s, and the set cannot rebuild it", file->name, state);
  else
    say("%s: %s, %" PRIu64 " of %zu blocks found", file->name, state, found->found[f], file->count);
}

void par2_say(const par2_found *found) {
  const par2_set *set = found->set;
  for (size_t f = 0; f < set->file_count; f++)
    if (found->states[f] != PAR2_INTACT)
      say_file(found, f);
  if (set->packets.damaged > 0)
    say("%s: %" PRIu64 " damaged packets", set->name, set->packets.damaged);
  if (par2_unsound(found) == 0)
    say("%s: %zu of %zu files intact", set->name, set->file_count, set->file_count);
  else
    say("%s: %zu of %zu files intact, %zu of %zu blocks lost, %zu recovery blocks: %s", set->name,
        set->file_count - par2_unsound(found), set->file_count, found->lost, set->blocks,
        set->recovery_count, prospect(found));
}

static const char *without_dot(const char *path) {
  while (path[0] == '.' && path[1] == '/')
    path += 2;
  return path;
}

/* Is a path that of a file of the set, as a user writes it: below the folder of SET.par2? */
static bool names_file_of_set(const par2_set *set, const char *path) {
  bool equal = false;
  for (size_t f = 0; f < set->file_count && !equal; f++) {
    if (set->files[f].name == NULL)
      continue;
    char *own = path_join(set->folder, set->files[f].name);
    equal = strcmp(without_dot(own), without_dot(path)) == 0;
    free(own);
  }
  return equal;
}

/* Every named file must be there, even if no block of it is needed. A missing or damaged file of
 * the set is a result, no mistake. */
static int require_named(const par2_set *set, char *const *paths, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct stat info;
    int fd = open_input(paths[i]);
    int reason = errno;
    bool lost = fd < 0 && (is_absent(reason) || reason == ENOTDIR || medium_failed(reason));
    if (lost && names_file_of_set(set, paths[i]))
      continue;
    if (fd < 0)
      return refuse("cannot open %s: %s", paths[i], strerror(reason));
    bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    close(fd);
    if (!regular)
      return refuse("%s is not a regular file", paths[i]);
  }
  return TOOL_OK;
}

int par2_examine(par2_set *set, par2_found *found, const options *opt) {
  if (md5_require() != TOOL_OK)
    return TOOL_REFUSED;
  int status = par2_set_read(set, opt->paths[0], opt->paths + 1, opt->count - 1);
  if (status == TOOL_OK)
    status = require_named(set, opt->paths + 1, opt->count - 1);
  if (status == TOOL_OK)
    status = par2_scan(found, set, opt->paths + 1, opt->count - 1, opt);
  if (status == TOOL_OK)
    par2_say(found);
  return status;
}

int command_par2_verify(const options *opt) {
  par2_set set = {0};
  par2_found found = {0};
  int status = par2_examine(&set, &found, opt);
  if (status == TOOL_OK) {
    bool intact = par2_unsound(&found) == 0;
    if (opt->json)
      json_par2("par2 verify",
                intact                  ? "intact"
                : is_repairable(&found) ? "repairable"
                                        : "lost",
                &set, &found, set.recovery_count);
    status = intact ? TOOL_OK : TOOL_WRONG;
  }
  par2_found_free(&found);
  par2_set_free(&set);
  return status;
}
