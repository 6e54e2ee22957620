/* What a chunk server answers beside GFSMITH_OK and what the library says. */
#ifndef STORE_ANSWER_H
#define STORE_ANSWER_H

enum {
  ANSWER_MISSING = -64,   /* the chunk or record is not there, or is damaged */
  ANSWER_FULL = -65,      /* memcached has no memory left */
  ANSWER_TOO_LARGE = -66, /* larger than memcached's largest item */
  ANSWER_NO_STORE = -67,  /* memcached is gone */
  ANSWER_REFUSED = -68    /* what was asked makes no sense here */
};

#endif
