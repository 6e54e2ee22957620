/* The hybrid of the paper's section IV-C: composed or incoherent, by graph and length, as a
 * measurement has found (bench/compose/choices.py writes the file). */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "link.h"
#include "node.h"
#include "status.h"

/* A graph, and the lengths for which it is composed. */
typedef struct choice {
  char scheme[16];
  bool encodes;
  unsigned k, m;
  uint64_t least, most;
} choice;

struct gfsmith_choices {
  size_t count;
  choice choice[];
};

static bool parse(choice *found, const char *line) {
  char task[8], rest;
  if (sscanf(line, "%15[a-z] %7[a-z] %u %u %" SCNu64 " %" SCNu64 " %c", found->scheme, task,
             &found->k, &found->m, &found->least, &found->most, &rest) != 6)
    return false;
  found->encodes = strcmp(task, "encode") == 0;
  return found->encodes || strcmp(task, "repair") == 0;
}

static bool is_same_graph(const choice *a, const choice *b) {
  return a->encodes == b->encodes && a->k == b->k && a->m == b->m &&
         strcmp(a->scheme, b->scheme) == 0;
}

/* Add a choice; the memory may move. NULL: out of memory, and the old memory is freed. */
static gfsmith_choices *add(gfsmith_choices *all, const choice *one) {
  gfsmith_choices *more = realloc(all, sizeof *all + (all->count + 1) * sizeof *one);
  if (more == NULL) {
    free(all);
    return NULL;
  }
  more->choice[more->count++] = *one;
  return more;
}

static bool is_known(const gfsmith_choices *all, const choice *one) {
  for (size_t i = 0; i < all->count; i++)
    if (is_same_graph(&all->choice[i], one))
      return true;
  return false;
}

static int refuse(char *reason, const char *path, unsigned number, const char *what) {
  gfc_words(reason, "%.150s, line %u: %s", path, number, what);
  return GFSMITH_EINVAL;
}

static int unreadable(char *reason, const char *path) {
  gfc_words(reason, "%.150s: %s", path, strerror(errno));
  return GFSMITH_EINVAL;
}

static int read_line(gfsmith_choices **all, const char *line, unsigned number, const char *path,
                     char *reason) {
  choice one = {.k = 0};
  if (line[0] == '#' || line[0] == '\n')
    return GFSMITH_OK;
  if (!parse(&one, line))
    return refuse(reason, path, number, "must be SCHEME encode|repair K M LEAST MOST");
  if (is_known(*all, &one))
    return refuse(reason, path, number, "the second line of this graph");
  return (*all = add(*all, &one)) != NULL ? GFSMITH_OK : GFSMITH_ENOMEM;
}

static int read_lines(gfsmith_choices **all, FILE *file, const char *path, char *reason) {
  char *line = NULL; /* comments have any length */
  size_t room = 0;
  int status = GFSMITH_OK;
  for (unsigned number = 1; status == GFSMITH_OK && getline(&line, &room, file) >= 0; number++)
    status = read_line(all, line, number, path, reason);
  if (status == GFSMITH_OK && !feof(file))
    status = unreadable(reason, path);
  free(line);
  return status;
}

int gfsmith_choices_read(gfsmith_choices **out, const char *path, char *reason) {
  if (out == NULL)
    return GFSMITH_EINVAL;
  *out = NULL;
  if (path == NULL)
    return GFSMITH_EINVAL;
  gfsmith_choices *all = calloc(1, sizeof *all);
  FILE *file = all != NULL ? fopen(path, "re") : NULL;
  int status = GFSMITH_ENOMEM;
  gfc_words(reason, "no memory");
  if (file != NULL) {
    status = read_lines(&all, file, path, reason);
    fclose(file);
  } else if (all != NULL) {
    status = unreadable(reason, path);
  }
  if (status != GFSMITH_OK) {
    free(all);
    return status;
  }
  *out = all;
  return GFSMITH_OK;
}

void gfsmith_choices_destroy(gfsmith_choices *choices) { free(choices); }

bool gfsmith_choices_composed(const gfsmith_choices *choices, const gfsmith_graph *graph,
                              size_t length) {
  for (size_t i = 0; choices != NULL && i < choices->count; i++) {
    const choice *one = &choices->choice[i];
    if (one->encodes == graph->encodes && one->k == graph->k && one->m == graph->m &&
        strcmp(one->scheme, graph->scheme) == 0)
      return length >= one->least && length <= one->most;
  }
  return true;
}

/* Every operation ends at the latest one second after its deadline. */
static void wait(gfsmith_operation *operation, gfsmith_outcome *outcome) {
  while (!gfsmith_operation_wait(operation, 1000, outcome))
    continue;
  gfsmith_operation_release(operation);
}

int gfsmith_graph_run(gfsmith_node *node, const gfsmith_graph *graph,
                      const gfsmith_choices *choices, uint64_t job, unsigned deadline_ms,
                      size_t length, size_t slice, uint8_t *const *shards,
                      gfsmith_outcome *outcome) {
  gfsmith_operation *operation;
  const gfsmith_notice notice = {.operation = &operation};
  if (node == NULL || graph == NULL || outcome == NULL || gfc_in_engine(node->engine))
    return GFSMITH_EINVAL;
  if (!gfsmith_choices_composed(choices, graph, length))
    return gfsmith_graph_incoherent(node, graph, job, deadline_ms, length, slice, shards, outcome);
  int cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* the operation is this call's */
  int status = gfsmith_graph_post(node, graph, job, deadline_ms, length, slice, shards, &notice);
  if (status == GFSMITH_OK)
    wait(operation, outcome);
  pthread_setcancelstate(cancel, NULL);
  return status;
}
