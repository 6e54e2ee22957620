/* Graphs with every single allocation failing: GFSMITH_ENOMEM, and no leak (LeakSanitizer). */
#include <stdio.h>
#include <stdlib.h>

#include "gfsmith_compose.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static unsigned until_failure; /* 0: none fails */

static bool fails(void) { return until_failure != 0 && --until_failure == 0; }

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) {
  return fails() ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *memory, size_t size) {
  return fails() ? NULL : __real_realloc(memory, size);
}

/* @return the number of allocations that could fail; 0 on error */
static unsigned fail_each(const gfsmith_graph_request *request) {
  for (unsigned nth = 1;; nth++) {
    gfsmith_graph *graph;
    char reason[GFSMITH_REASON_MAX] = "";
    until_failure = nth;
    int status = gfsmith_graph_create(&graph, request, reason);
    bool reached = until_failure == 0;
    until_failure = 0;
    gfsmith_graph_destroy(graph);
    if (status == GFSMITH_OK && !reached)
      return nth - 1;
    if (status != GFSMITH_ENOMEM || !reached || graph != NULL || reason[0] == 0) {
      printf("%s, allocation %u: %d %s\n", request->scheme, nth, status, reason);
      return 0;
    }
  }
}

int main(void) {
  gfsmith_codec *codec;
  if (gfsmith_codec_create(&codec, "cauchy", 4, 3) != GFSMITH_OK)
    return 1;
  const uint16_t holder[] = {0, 1, 2, 3, 4, 5, 6};
  const bool present[] = {false, true, true, true, false, true, true};
  gfsmith_graph_request request = {
      .scheme = "rs", .codec = codec, .k = 4, .m = 3, .holder = holder, .source = 9};
  bool good = fail_each(&request) > 10;
  request.present = present;
  good = good && fail_each(&request) > 10;
  request.scheme = "triec";
  good = good && fail_each(&request) > 10;
  gfsmith_codec_destroy(codec);
  if (good)
    puts("ok");
  return good ? 0 : 1;
}
