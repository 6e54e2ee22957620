/* host LIBRARY...: a program with plugins, each of which has its own copy of the library. It loads
 * each library and encodes with it, while the others stay loaded. Then it loads, uses and unloads
 * the first one again and again: neither the heap nor the numbers of mappings and of open files may
 * grow. */
#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "gfsmith.h"

enum { K = 5, M = 2, LENGTH = 2048, WARM = 10, TIMES = 100 };

#define LOOKED_UP(name) __typeof__(gfsmith_##name) *name = look_up(library, "gfsmith_" #name)

static void *look_up(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (found == NULL) {
    puts(dlerror());
    exit(1);
  }
  return found;
}

static void *load(const char *file) {
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    puts(dlerror());
    exit(1);
  }
  return library;
}

static void use(void *library) {
  LOOKED_UP(codec_create);
  LOOKED_UP(codec_hint);
  LOOKED_UP(encode);
  LOOKED_UP(codec_destroy);
  static uint8_t shards[K + M][LENGTH];
  const uint8_t *data[K] = {shards[0], shards[1], shards[2], shards[3], shards[4]};
  uint8_t *parity[M] = {shards[5], shards[6]};
  gfsmith_codec *codec;
  if (codec_create(&codec, "cauchy", K, M) != GFSMITH_OK ||
      codec_hint(codec, GFSMITH_HINT_STREAMING) != GFSMITH_OK)
    exit(2);
  for (unsigned n = 0; n < 3; n++)
    if (encode(codec, LENGTH, data, parity) != GFSMITH_OK)
      exit(2);
  codec_destroy(codec);
}

static size_t mappings(void) {
  size_t lines = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  for (int c; maps != NULL && (c = getc(maps)) != EOF;)
    lines += c == '\n';
  if (maps != NULL)
    fclose(maps);
  return lines;
}

static size_t open_files(void) {
  size_t count = 0;
  DIR *folder = opendir("/proc/self/fd");
  while (folder != NULL && readdir(folder) != NULL)
    count++;
  if (folder != NULL)
    closedir(folder);
  return count;
}

static void load_again(const char *file) {
  void *library = load(file);
  use(library);
  dlclose(library);
}

int main(int argc, char **argv) {
  for (int n = 2; n < argc; n++)
    use(load(argv[n]));
  for (unsigned n = 0; n < WARM; n++)
    load_again(argv[1]);
  size_t mapped = mappings(), files = open_files(), heap = mallinfo2().uordblks;
  for (unsigned n = 0; n < TIMES; n++)
    load_again(argv[1]);
  heap = mallinfo2().uordblks - heap;
  mapped = mappings() - mapped;
  files = open_files() - files;
  bool grows =
      heap >= TIMES * 16u || mapped != 0 || files != 0; /* malloc keeps a few freed blocks */
  printf(grows ? "%zu bytes, %zu mappings and %zu files more\n" : "ok\n", heap, mapped, files);
  return grows;
}
