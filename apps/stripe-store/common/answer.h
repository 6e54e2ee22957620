/* Status codes of chunk servers in addition to GFSMITH_OK and the library's errors. */
#ifndef STORE_ANSWER_H
#define STORE_ANSWER_H

enum {
  ANSWER_MISSING = -64,   /* the chunk or record is missing or damaged */
  ANSWER_FULL = -65,      /* memcached has no memory left */
  ANSWER_TOO_LARGE = -66, /* larger than memcached's largest item */
  ANSWER_NO_STORE = -67,  /* memcached is down */
  ANSWER_REFUSED = -68    /* the request is invalid */
};

#endif
