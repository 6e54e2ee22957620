/* links PROVIDER SCENARIO */
#include "harness.h"
#include "scenarios.h"

#define NAMED(name) {#name, name}

static const struct {
  const char *name;
  void (*run)(void);
} scenarios[] = {
    NAMED(messages_in_order),
    NAMED(controls_and_writes_in_order),
    NAMED(writes_piece_by_piece),
    NAMED(too_many_messages),
    NAMED(a_mesh),
    NAMED(options),
    NAMED(wrong_key),
    NAMED(wrong_rank),
    NAMED(a_message_that_is_flipped),
    NAMED(a_message_that_is_cut),
    NAMED(a_message_that_is_left_out),
    NAMED(a_message_with_an_old_number),
    NAMED(credits_that_nobody_gave),
    NAMED(answers_that_are_not_taken),
    NAMED(answers_that_are_taken),
    NAMED(a_write_to_nowhere),
    NAMED(a_write_that_is_too_long),
    NAMED(a_new_key),
    NAMED(a_new_key_at_one_node),
    NAMED(a_removed_key),
    NAMED(destroyed_under_way),
    NAMED(destroyed_while_others_call),
    NAMED(back_at_the_same_port),
    NAMED(moved),
    NAMED(two_of_one_rank),
    NAMED(silent),
    NAMED(continued),
    NAMED(dropped),
    NAMED(timers),
    NAMED(thread_in_a_program_with_small_stacks),
    NAMED(sockets_of_the_program_at_the_same_port),
    NAMED(sockets_that_no_program_inherits),
    NAMED(a_write_that_takes_long),
};

int main(int count, char **argument) {
  if (count == 2 && strcmp(argument[1], "--list") == 0) {
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
      puts(scenarios[i].name);
    return 0;
  }
  if (count != 3)
    return 2;
  harness_provider = argument[1];
  for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
    if (strcmp(argument[2], scenarios[i].name) == 0) {
      scenarios[i].run();
      return 0;
    }
  }
  return 2;
}
