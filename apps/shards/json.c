#include "json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the UTF-8 character at `c`, or 0. */
static unsigned utf8_length(const unsigned char *c) {
  unsigned n = c[0] < 0x80 ? 1 : c[0] >= 0xc2 && c[0] < 0xe0 ? 2 : (c[0] & 0xf0) == 0xe0 ? 3 : 4;
  if (c[0] >= 0xf5 || (c[0] >= 0x80 && c[0] < 0xc2))
    return 0;
  for (unsigned i = 1; i < n; i++)
    if ((c[i] & 0xc0) != 0x80)
      return 0;
  bool overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
  bool surrogate = c[0] == 0xed && c[1] >= 0xa0, beyond = c[0] == 0xf4 && c[1] >= 0x90;
  return overlong || surrogate || beyond ? 0 : n;
}

/* A string; bytes that are not UTF-8 become \udc80 .. \udcff, as in Python's surrogateescape. */
static void put_text(const char *text) {
  putchar('"');
  for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
    unsigned n = utf8_length(c);
    if (n == 0)
      printf("\\udc%02x", *c);
    else if (*c < 0x20 || *c == '"' || *c == '\\')
      printf("\\u%04x", *c);
    else
      fwrite(c, 1, n, stdout);
    c += n == 0 ? 1 : n;
  }
  putchar('"');
}

static void put_field(const char *name, const char *text) {
  printf(", \"%s\": ", name);
  put_text(text);
}

static void put_hex(const char *name, const uint8_t *bytes) {
  printf(", \"%s\": \"", name);
  for (int i = 0; i < 16; i++)
    printf("%02x", bytes[i]);
  putchar('"');
}

static void put_header(const char *command, const gfsmith_shards_header *h) {
  printf("{\"command\": \"%s\"", command);
  put_field("name", h->name);
  put_field("code", h->code);
  printf(", \"k\": %" PRIu32 ", \"m\": %" PRIu32 ", \"l\": %" PRIu32 ", \"block\": %" PRIu32, h->k,
         h->m, h->l, h->block);
  printf(", \"content\": \"%s\", \"generation\": %" PRIu64,
         h->content == GFSMITH_SHARDS_TAR ? "tar" : "bytes", h->generation);
  put_hex("set_id", h->set_id);
}

static void put_shard(const shard_set *set, unsigned index) {
  char why[256];
  const gfsmith_shards_state *state = &set->report.shard[index];
  printf("%s{\"index\": %u, \"state\": \"%s\"", index == 0 ? "" : ", ", index,
         set->given[index] == NULL ? "missing"
         : !state->read            ? "unread"
         : set_intact(set, index)  ? "intact"
                                   : "damaged");
  put_field("path", set_path(set, index));
  printf(", \"bad_blocks\": %" PRIu64, state->bad_blocks);
  if (!set_intact(set, index)) {
    set_why(set, index, why, sizeof why);
    put_field("reason", why);
  }
  putchar('}');
}

void json_set(const char *command, const char *result, const shard_set *set) {
  const gfsmith_shards_report *report = &set->report;
  put_header(command, &set->header);
  printf(", \"result\": \"%s\", \"length\": %" PRIu64 ", \"stripes\": %" PRIu64, result,
         report->length, report->stripes);
  put_hex("original", report->original);
  printf(", \"lost_stripes\": %" PRIu64 ", \"strays\": %u, \"leftovers\": %u, \"shards\": [",
         report->lost_stripes, set_strays(set), set->leftovers);
  for (unsigned i = 0; i < set->shards; i++)
    put_shard(set, i);
  printf("]}\n");
}

void json_protected(const gfsmith_shards_header *header, uint64_t length, const char *folder) {
  put_header("protect", header);
  put_field("folder", folder);
  printf(", \"length\": %" PRIu64 "}\n", length);
}

static void put_par2_file(const par2_set *set, const par2_found *found, size_t f) {
  static const char *const states[] = {"missing", "damaged", "intact"};
  const par2_file *file = &set->files[f];
  printf("%s{\"index\": %zu", f == 0 ? "" : ", ", f);
  put_field("name", file->name);
  printf(", \"length\": %" PRIu64 ", \"blocks\": %zu", file->length, file->count);
  if (found != NULL) {
    put_field("state", states[found->states[f]]);
    printf(", \"found\": %" PRIu64, found->found[f]);
  }
  putchar('}');
}

void json_par2(const char *command, const char *result, const par2_set *set,
               const par2_found *found, size_t recovery) {
  printf("{\"command\": \"%s\"", command);
  put_field("name", set->name);
  put_hex("set_id", set->id);
  printf(", \"result\": \"%s\", \"block\": %" PRIu64 ", \"blocks\": %zu", result, set->block,
         set->blocks);
  printf(", \"lost\": %zu, \"recovery\": %zu, \"files\": [", found != NULL ? found->lost : 0,
         recovery);
  for (size_t f = 0; f < set->file_count; f++)
    put_par2_file(set, found, f);
  printf("]}\n");
}
