/* Two libraries of gfsmith in one program, each with its own prefix. */
#include <archive.h>
#include <gfsmith.h>
#include <stdio.h>

int main(void) {
  gfsmith_codec *one = NULL;
  archive_codec *other = NULL;
  int failed = gfsmith_codec_create(&one, "cauchy", 10, 4) != GFSMITH_OK ||
               archive_codec_create(&other, "vandermonde", 6, 3) != ARCHIVE_OK;
  printf("gfsmith: %s, archive: %s\n", gfsmith_isa(), archive_isa());
  gfsmith_codec_destroy(one);
  archive_codec_destroy(other);
  return failed;
}
