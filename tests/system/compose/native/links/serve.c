/* A node as a separate process: serve PROVIDER RANK KEY CONNECT_MS PORT. It prints its port and its
 * events, one per line, in any order. It executes commands from its input, "peer RANK PORT", "send
 * RANK TEXT", "count" (of its descriptors), and ends with its input. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gfsmith_compose.h"

static void say_link(void *context, uint16_t rank, bool up) {
  (void)context;
  printf("%s %u\n", up ? "up" : "down", rank);
  fflush(stdout);
}

static void say_message(void *context, uint16_t rank, const void *bytes, size_t length) {
  (void)context;
  printf("message %u %.*s\n", rank, (int)length, (const char *)bytes);
  fflush(stdout);
}

static unsigned descriptors(void) {
  unsigned count = 0;
  DIR *folder = opendir("/proc/self/fd");
  while (folder != NULL && readdir(folder) != NULL)
    count++;
  if (folder != NULL)
    closedir(folder);
  return count;
}

static void obey(gfsmith_node *node, const char *line) {
  unsigned rank, port;
  char text[512];
  if (sscanf(line, "peer %u %u", &rank, &port) == 2)
    printf("named %d\n", gfsmith_node_peer(node, (uint16_t)rank, "127.0.0.1", (uint16_t)port));
  else if (sscanf(line, "send %u %511s", &rank, text) == 2)
    printf("sent %d\n", gfsmith_node_send(node, (uint16_t)rank, text, strlen(text)));
  else
    printf("count %u\n", descriptors());
  fflush(stdout);
}

int main(int count, char **argument) {
  if (count != 6)
    return 2;
  gfsmith_node_options options;
  gfsmith_node_defaults(&options);
  options.provider = argument[1];
  options.rank = (uint16_t)atoi(argument[2]);
  options.key = (const uint8_t *)argument[3];
  options.key_bytes = strlen(argument[3]);
  options.connect_ms = (unsigned)atoi(argument[4]);
  options.port = (uint16_t)atoi(argument[5]);
  options.link = say_link;
  options.message = say_message;
  gfsmith_node *node;
  char reason[GFSMITH_REASON_MAX], line[1024];
  if (gfsmith_node_create(&node, &options, reason) != GFSMITH_OK) {
    fprintf(stderr, "%s\n", reason);
    return 1;
  }
  printf("port %u\n", gfsmith_node_port(node));
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) != NULL)
    obey(node, line);
  gfsmith_node_destroy(node);
  puts("destroyed");
  return 0;
}
