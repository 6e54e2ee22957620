/* The scenarios: each ends the program with status 1 on failure. */
#ifndef SCENARIOS_H
#define SCENARIOS_H

/* traffic.c */
void messages_in_order(void);
void controls_and_writes_in_order(void);
void writes_piece_by_piece(void);
void too_many_messages(void);
void a_mesh(void);
/* wrong.c */
void options(void);
void wrong_key(void);
void wrong_rank(void);
void a_message_that_is_flipped(void);
void a_message_that_is_cut(void);
void a_message_that_is_left_out(void);
void a_message_with_an_old_number(void);
void credits_that_nobody_gave(void);
void answers_that_are_not_taken(void);
void answers_that_are_taken(void);
void a_write_to_nowhere(void);
void a_write_that_is_too_long(void);
/* renewed.c */
void a_new_key(void);
void a_new_key_at_one_node(void);
void a_removed_key(void);
/* ends.c */
void destroyed_under_way(void);
void destroyed_while_others_call(void);
void back_at_the_same_port(void);
void moved(void);
void two_of_one_rank(void);
void silent(void);
void continued(void);
void dropped(void);
void timers(void);
void thread_in_a_program_with_small_stacks(void);
void sockets_of_the_program_at_the_same_port(void);
void sockets_that_no_program_inherits(void);
/* long_writes.c */
void a_write_that_takes_long(void);

#endif
