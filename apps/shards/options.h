/* The options of a command. */
#ifndef TOOL_OPTIONS_H
#define TOOL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct options {
  const char *code;
  unsigned k;
  unsigned m;
  unsigned l;         /* groups of an lrc; 0 for other codes */
  unsigned block;     /* bytes */
  unsigned threads;   /* 0: one for each CPU */
  const char *name;   /* of the original; NULL: that of the source */
  const char *output; /* of restore */
  bool force;
  bool quiet;
  bool json;
  char *const *paths;
  size_t count;
} options;

#endif
