#include "failures.h"

#include "common/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct failures {
  double shape, scale, rate;
  unsigned lost;
  double next;    /* reads until the next failure; below 1: at this read */
  uint64_t state; /* of splitmix64 */
};

/* Sebastiano Vigna's splitmix64: the same draws on every machine, for a seed. */
static uint64_t bits(failures *d) {
  uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* Inversion of the distribution function; the interval (0, 1] keeps the logarithm finite. */
static double interval(failures *d) {
  double u = (double)((bits(d) >> 11) + 1) / 9007199254740992.0;
  return d->scale * pow(-log(u), 1 / d->shape);
}

bool failures_create(failures **out, const char *text, unsigned most, uint64_t seed) {
  double shape, rate;
  unsigned lost = 1;
  int at = 0, more = 0;
  *out = NULL;
  if (sscanf(text, "weibull:%lf:%lf%n:%u%n", &shape, &rate, &at, &lost, &more) < 2 ||
      text[more > 0 ? more : at] != '\0' || !(shape >= 0.1 && shape <= 10) ||
      !(rate >= 0 && rate <= 1) || lost < 1 || lost > most)
    return false;
  failures *d = calloc(1, sizeof *d);
  if (d == NULL)
    out_of_memory();
  d->shape = shape;
  d->rate = rate;
  d->lost = lost;
  d->state = seed;
  if (rate > 0) {
    d->scale =
        1 / rate / tgamma(1 + 1 / shape); /* the mean of Weibull is scale * gamma(1 + 1/shape) */
    d->next = interval(d);
  }
  *out = d;
  return true;
}

void failures_destroy(failures *d) { free(d); }

/* Several failures between two reads are distributed over the following reads, so that the share is
 * `rate`.
 */
static bool strikes(failures *d) {
  if (d->rate == 0 || d->rate == 1)
    return d->rate == 1;
  if (d->next >= 1) {
    d->next -= 1;
    return false;
  }
  d->next += interval(d) - 1;
  return true;
}

uint64_t failures_next(failures *d, unsigned k) {
  uint64_t lost = 0;
  if (d == NULL || !strikes(d))
    return 0;
  for (unsigned count = 0; count < d->lost;) {
    uint64_t bit = UINT64_C(1) << bits(d) % k;
    count += (lost & bit) == 0;
    lost |= bit;
  }
  return lost;
}
