/* The blocks that are nowhere, computed from recovery blocks. */
#ifndef TOOL_PAR2_DECODE_H
#define TOOL_PAR2_DECODE_H

#include "par2_scan.h"

/* Called in any thread with bytes of a lost block, at an offset in it. False and errno on failure.
 */
typedef bool par2_sink(void *context, size_t block, uint64_t at, const uint8_t *bytes, size_t size);

typedef struct par2_decoding par2_decoding;

/* Allocate memory and choose recovery blocks, before outputs are opened. TOOL_REFUSED after a
 * message. End the decoding in any case. */
int par2_decode_begin(par2_decoding **job, const par2_found *found, const options *opt);
/* Compute all lost blocks. TOOL_REFUSED after a message; `sink` has then been called for some. */
int par2_decode_run(par2_decoding *job, par2_sink *sink, void *context);
void par2_decode_end(par2_decoding *job);

#endif
