#include "coding.h"

#include <stdlib.h>

#include "jerasure.h"

int gfs_jerasure_lost(int k, const int *erased) {
  int lost = 0;
  for (int i = 0; i < k; i++)
    lost += erased[i] != 0;
  return lost;
}

int gfs_jerasure_last_lost(int k, const int *erased) {
  for (int i = k - 1; i >= 0; i--)
    if (erased[i] != 0)
      return i;
  return k;
}

int *jerasure_erasures_to_erased(int k, int m, int *erasures) {
  if (k < 0 || m < 0)
    return NULL;
  int *erased = calloc((size_t)k + (size_t)m + 1, sizeof(int)), left = k + m;
  for (int n = 0; erased != NULL && erasures[n] != -1; n++) {
    const bool valid = erasures[n] >= 0 && erasures[n] < k + m;
    if (valid && erased[erasures[n]] == 0) {
      erased[erasures[n]] = 1;
      left--;
    }
    if (!valid || left < k) {
      free(erased);
      return NULL;
    }
  }
  return erased;
}
