#include "gfsmith_compose.h"

const char *gfsmith_compose_strerror(int status) {
  switch (status) {
  case GFSMITH_ETIMEDOUT:
    return "the deadline is over";
  case GFSMITH_EPEER:
    return "a peer is gone or cannot be reached";
  case GFSMITH_EAUTH:
    return "a peer does not know the key, or is not who it says";
  case GFSMITH_ECORRUPT:
    return "a message is truncated or its checksum is wrong";
  case GFSMITH_EMISMATCH:
    return "a peer means another code, graph, length or slice";
  case GFSMITH_ECANCELED:
    return "canceled";
  case GFSMITH_EFABRIC:
    return "libfabric's provider failed";
  case GFSMITH_ELIMIT:
    return "more memory than the node may use";
  default:
    return gfsmith_strerror((gfsmith_status)status);
  }
}
