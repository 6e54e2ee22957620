/* The commands, one function each; they return the exit status. */
#ifndef STRIPE_COMMANDS_H
#define STRIPE_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct options {
  const char *code;
  unsigned k;
  unsigned m;
  unsigned block;     /* bytes */
  const char *output; /* of join */
  bool force;
  bool quiet;
  char *const *paths;
  size_t count;
} options;

int command_split(const options *opt);
int command_verify(const options *opt);
int command_repair(const options *opt);
int command_join(const options *opt);
int command_info(const options *opt);

#endif
