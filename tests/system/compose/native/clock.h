/* The clock of all nodes of a program, which a test can stop: programs are linked with CLOCK of
 * support.py. Then no stop of the whole machine lets a time limit of the library pass. */
#ifndef CLOCK_H
#define CLOCK_H

/* Stops the clock, within a second after the time that it shows. */
void clock_stop(void);
/* Lets a stopped clock go on by `ms` milliseconds. */
void clock_pass(unsigned ms);

#endif
