/* Numbers of a trace: signs, rounding, leading zeros, and numbers that are too large. */
#include <stdio.h>
#include <string.h>

#include "trace.h"

static const struct {
  double value;
  unsigned places;
  const char *text;
} cases[] = {
    {0, 1, "0.0"},          {1.5, 6, "1.500000"},
    {0.0004, 3, "0.000"},   {0.0006, 3, "0.001"},
    {-1.0456, 3, "-1.046"}, {0.99996, 4, "1.0000"},
    {12.05, 2, "12.05"},    {1e300, 9, "1000000000.000000000"},
};

int main(void) {
  for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
    gfs_decimal made = gfs_decimal_of(cases[n].value, cases[n].places);
    if (strcmp(made.text, cases[n].text) != 0) {
      printf("%s instead of %s\n", made.text, cases[n].text);
      return 1;
    }
  }
  puts("ok");
  return 0;
}
