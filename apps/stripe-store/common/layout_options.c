#include "layout.h"

#include <stdio.h>
#include <string.h>

static const char *const schemes[] = {"rs", "lrc", "ppr", "ecpipe", "triec"};

void layout_text(const layout_options *o, char text[LAYOUT_TEXT]) {
  snprintf(text, LAYOUT_TEXT, "%s %u %u %u %u %u", o->scheme, o->k, o->m, o->l, o->r, o->slice);
}

bool layout_parse(layout_options *o, const char *text) {
  char end;
  *o = (layout_options){0};
  return sscanf(text, "%15[a-z] %u %u %u %u %u%c", o->scheme, &o->k, &o->m, &o->l, &o->r, &o->slice,
                &end) == 6;
}

void layout_code(const layout_options *o, char text[LAYOUT_TEXT]) {
  if (strcmp(o->scheme, "lrc") == 0)
    snprintf(text, LAYOUT_TEXT, "lrc %u %u %u", o->k, o->l, o->r);
  else
    snprintf(text, LAYOUT_TEXT, "cauchy %u %u", o->k, o->m);
}

bool layout_valid(const layout_options *o, char *reason) {
  bool known = false;
  for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
    known = known || strcmp(o->scheme, schemes[i]) == 0;
  bool lrc = strcmp(o->scheme, "lrc") == 0;
  if (!known)
    snprintf(reason, GFSMITH_REASON_MAX, "scheme %s: must be rs, lrc, ppr, ecpipe or triec",
             o->scheme);
  else if (o->k == 0 || o->m == 0 || o->k > LAYOUT_SHARDS_MAX || o->m > LAYOUT_SHARDS_MAX ||
           o->k + o->m > LAYOUT_SHARDS_MAX)
    snprintf(reason, GFSMITH_REASON_MAX, "k = %u, m = %u: both at least 1, together at most %d",
             o->k, o->m, LAYOUT_SHARDS_MAX);
  else if (lrc ? o->l == 0 || o->r == 0 || o->l > o->k || o->l + o->r != o->m : o->l + o->r != 0)
    snprintf(reason, GFSMITH_REASON_MAX,
             lrc ? "scheme lrc with k = %u, m = %u, %u groups, %u global: groups must be from 1 to "
                   "k, global at least 1, and m their sum (--groups, --global)"
                 : "k = %u, m = %u, %u groups, %u global: groups and global are for the scheme lrc",
             o->k, o->m, o->l, o->r);
  else
    return true;
  return false;
}
