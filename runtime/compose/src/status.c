#include "status.h"

#include <stdarg.h>
#include <stdio.h>

void gfc_words(char *reason, const char *format, ...) {
  if (reason == NULL)
    return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, GFSMITH_REASON_MAX, format, arguments);
  va_end(arguments);
}

const char *gfsmith_compose_strerror(int status) {
  switch (status) {
  case GFSMITH_ETIMEDOUT:
    return "the deadline has passed";
  case GFSMITH_EPEER:
    return "a peer has gone down or cannot be reached";
  case GFSMITH_EAUTH:
    return "a peer does not have the key, or claims a wrong rank";
  case GFSMITH_ECORRUPT:
    return "a message is truncated or its checksum is wrong";
  case GFSMITH_EMISMATCH:
    return "a peer has another code, graph, length or slice";
  case GFSMITH_ECANCELED:
    return "canceled";
  case GFSMITH_EFABRIC:
    return "libfabric's provider failed";
  case GFSMITH_ELIMIT:
    return "the node's memory limit is exceeded";
  default:
    return gfsmith_strerror((gfsmith_status)status);
  }
}
