/* The plan, one cell per line, with fields separated by blanks:
 *
 *   ID CODE K M LEN resident|dram|sequential ROUNDS MICROSECONDS MATRIX CONTENDER...
 *
 * MATRIX: m x k elements in hexadecimal, or "-" if only gfsmith has the code. A contender is
 * library:variant, with "~" before it if it computes another code, and "!" if it starts threads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cell.h"

static char *next(char **rest) { return strtok_r(NULL, " \n", rest); }

static bool number(char **rest, unsigned long least, unsigned long most, unsigned long *out) {
  char *text = next(rest), *end;
  if (text == NULL)
    return false;
  *out = strtoul(text, &end, 10);
  return *end == '\0' && *out >= least && *out <= most;
}

static bool matrix(cell *out, const char *text) {
  out->has_matrix = text != NULL && strcmp(text, "-") != 0;
  if (!out->has_matrix)
    return text != NULL;
  size_t count = (size_t)out->k * out->m;
  if (count > sizeof out->matrix || strlen(text) != 2 * count)
    return false;
  for (size_t n = 0; n < count; n++)
    if (sscanf(text + 2 * n, "%2hhx", &out->matrix[n]) != 1)
      return false;
  return true;
}

static const char *contender_parse(contender *out, const char *text) {
  *out = (contender){.same_matrix = true};
  for (; *text == '~' || *text == '!'; text++) {
    out->same_matrix &= *text != '~';
    out->alone |= *text == '!';
  }
  const char *colon = strchr(text, ':');
  if (colon == NULL || strlen(text) >= sizeof out->name)
    return "a contender is library:variant";
  snprintf(out->name, sizeof out->name, "%.*s", (int)(colon - text), text);
  out->api = library_find(out->name);
  if (out->api == NULL)
    return "unknown library";
  snprintf(out->name, sizeof out->name, "%s", text);
  return NULL;
}

bench_spec cell_spec(const cell *cell, const contender *who) {
  return (bench_spec){.variant = strchr(who->name, ':') + 1,
                      .code = cell->code,
                      .matrix = cell->has_matrix ? cell->matrix : NULL,
                      .k = cell->k,
                      .m = cell->m,
                      .len = cell->len};
}

const char *cell_parse(cell *out, char *line) {
  char *rest, *regime;
  unsigned long k, m, len, rounds, microseconds;
  *out = (cell){0};
  out->id = strtok_r(line, " \n", &rest);
  out->code = next(&rest);
  if (out->id == NULL || !number(&rest, 1, 254, &k) || !number(&rest, 1, 255 - k, &m) ||
      !number(&rest, 1, 1ul << 30, &len) || (regime = next(&rest)) == NULL ||
      !number(&rest, 1, 10000, &rounds) || !number(&rest, 1, 1000000, &microseconds))
    return "not a cell";
  out->k = (unsigned)k, out->m = (unsigned)m, out->len = len;
  out->rounds = (unsigned)rounds, out->microseconds = (unsigned)microseconds;
  out->shuffled = strcmp(regime, "dram") == 0;
  out->dram = out->shuffled || strcmp(regime, "sequential") == 0;
  if (!out->dram && strcmp(regime, "resident") != 0)
    return "the regime is resident, dram or sequential";
  if (!matrix(out, next(&rest)))
    return "bad matrix";
  for (const char *text; (text = next(&rest)) != NULL; out->contenders++) {
    const char *why = out->contenders == MAX_CONTENDERS
                          ? "too many contenders"
                          : contender_parse(&out->contender[out->contenders], text);
    if (why != NULL)
      return why;
  }
  return NULL;
}
