/* The libraries of contenders: parts of the driver, or shared objects. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cell.h"

enum { MAX_LIBRARIES = 16 };

static struct library {
  char name[NAME_SIZE];
  const peer_api *api;
  peer_api loaded; /* the functions of a shared object, to which api points */
} libraries[MAX_LIBRARIES];
static unsigned library_count;

const peer_api *library_find(const char *name) {
  for (unsigned n = 0; n < library_count; n++)
    if (strcmp(libraries[n].name, name) == 0)
      return libraries[n].api;
  return NULL;
}

bool library_add(const char *name, const peer_api *api) {
  if (library_count == MAX_LIBRARIES || strlen(name) >= NAME_SIZE)
    return false;
  struct library *library = &libraries[library_count++];
  strcpy(library->name, name);
  library->api = api;
  return true;
}

/* dlsym returns object pointers; POSIX permits copying them to function pointers. */
bool library_load(const char *argument) {
  char name[NAME_SIZE];
  const char *equals = strchr(argument, '=');
  if (equals == NULL || equals - argument >= NAME_SIZE)
    return false;
  void *handle = dlopen(equals + 1, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    fprintf(stderr, "driver: %s\n", dlerror());
    return false;
  }
  snprintf(name, sizeof name, "%.*s", (int)(equals - argument), argument);
  if (library_count == MAX_LIBRARIES)
    return false;
  peer_api *api = &libraries[library_count].loaded;
  if (!library_add(name, api))
    return false;
  *(void **)&api->open = dlsym(handle, "peer_open");
  *(void **)&api->run = dlsym(handle, "peer_run");
  *(void **)&api->close = dlsym(handle, "peer_close");
  return api->open != NULL && api->run != NULL && api->close != NULL;
}
