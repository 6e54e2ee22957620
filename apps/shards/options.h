/* The options of a command. */
#ifndef TOOL_OPTIONS_H
#define TOOL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct options {
  const char *code;
  unsigned k;
  unsigned m;
  unsigned l;          /* groups of an lrc; 0 for other codes */
  unsigned block;      /* bytes; par2: 0: chosen by the number of blocks */
  unsigned blocks;     /* par2: at most; 0: a default */
  unsigned redundancy; /* par2: recovery blocks in percent of the blocks */
  unsigned memory;     /* par2: MiB for blocks */
  unsigned threads;    /* 0: one for each CPU */
  const char *name;    /* of the original; NULL: that of the source */
  const char *output;  /* of restore */
  bool force;
  bool quiet;
  bool json;
  char *const *paths;
  size_t count;
} options;

#endif
