/* printable.h: external text in messages. */
#ifndef GFS_PRINTABLE_H
#define GFS_PRINTABLE_H

#include <stddef.h>

/* Copy an environment variable, a file name or other external text for a line of a message or the
 * inside of a JSON string: quotes, backslashes and all bytes other than printable ASCII become '?';
 * truncated to size. Return text. */
static inline char *gfs_printable(char *text, size_t size, const char *from) {
  size_t n = 0;
  for (; n + 1 < size && from[n] != '\0'; n++)
    text[n] = from[n] < ' ' || from[n] > '~' || from[n] == '"' || from[n] == '\\' ? '?' : from[n];
  text[n] = '\0';
  return text;
}

#endif
