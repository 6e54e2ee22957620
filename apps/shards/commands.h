/* The commands, one function each; they return the exit status. */
#ifndef TOOL_COMMANDS_H
#define TOOL_COMMANDS_H

#include "options.h"

int command_protect(const options *opt);
int command_verify(const options *opt);
int command_repair(const options *opt);
int command_restore(const options *opt);
int command_info(const options *opt);
int command_par2_create(const options *opt);
int command_par2_verify(const options *opt);
int command_par2_repair(const options *opt);

#endif
