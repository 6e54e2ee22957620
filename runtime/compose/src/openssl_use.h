/* The use of OpenSSL by the engines' threads, which go on while a program ends that has not
 * destroyed its nodes. OpenSSL frees all of its data then; before that, its use ends. */
#ifndef GFC_OPENSSL_USE_H
#define GFC_OPENSSL_USE_H

#include <stdbool.h>

/* May this thread use OpenSSL, until it leaves? False: the program ends. */
bool gfc_openssl_enter(void);
void gfc_openssl_leave(void);

#endif
