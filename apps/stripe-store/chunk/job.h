/* Jobs: encode, fetch, repair. */
#ifndef STORE_JOB_H
#define STORE_JOB_H

#include "server.h"

void job_begin(server *s, const message *m);
void job_cancel(server *s, uint64_t request);
/* Drop all jobs; their ends are not reported. */
void job_drop_all(server *s);
/* Before the net is closed: release the handles of jobs; after it, when no operation runs: free the
 * jobs. */
void job_let_go(server *s);
void job_forget_all(server *s);

#endif
