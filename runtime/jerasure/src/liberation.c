/* Bit matrices of RAID-6 codes: w rows of identities for P, w rows of blocks X_0, X_1, ... for Q.
 */
#include "jerasure/liberation.h"

#include <stdint.h>
#include <stdlib.h>

/* A matrix with P and with zeros for Q. */
static int *new_bitmatrix(int k, int w) {
  const size_t width = (size_t)k * (size_t)w;
  int *made = calloc(2 * (size_t)w * width, sizeof(int));
  for (size_t n = 0; made != NULL && n < width; n++)
    made[n % (size_t)w * width + n] = 1;
  return made;
}

/* Set a bit of X_block. */
static void set(int *matrix, int k, int w, int block, int row, int column) {
  matrix[(size_t)(w + row) * (size_t)(k * w) + (size_t)(block * w + column)] = 1;
}

/* X_j is the identity with its columns rotated by j, and one more bit. Source: J. S. Plank, "The
 * RAID-6 Liberation codes", FAST 2008. */
int *liberation_coding_bitmatrix(int k, int w) {
  int *made = k < 1 || w < 2 || k > w ? NULL : new_bitmatrix(k, w);
  for (int j = 0; made != NULL && j < k; j++) {
    for (int row = 0; row < w; row++)
      set(made, k, w, j, row, (row + j) % w);
    int row = j * ((w - 1) / 2) % w;
    if (j > 0)
      set(made, k, w, j, row, (row + j - 1) % w);
  }
  return made;
}

/* X_j is the product by x^j modulo 1 + x + ... + x^w. Source: M. Blaum, R. M. Roth, "On lowest
 * density MDS codes", IEEE Transactions on Information Theory 45, 1999. */
int *blaum_roth_coding_bitmatrix(int k, int w) {
  const int p = w + 1;
  int *made = k < 1 || w < 2 || k > w ? NULL : new_bitmatrix(k, w);
  for (int j = 0; made != NULL && j < k; j++)
    for (int row = 0; row < w; row++)
      if (row + j != w)
        set(made, k, w, j, row, (row + j) % p);
      else {
        set(made, k, w, j, row, j - 1);
        set(made, k, w, j, row, j % 2 == 0 ? j / 2 - 1 : p / 2 + j / 2);
      }
  return made;
}

/* Bit c of element r of X_j is its bit in row r, column c. The code is that of J. S. Plank, "A new
 * minimum density RAID-6 code with a word size of eight", NCA 2008; these numbers are those that
 * Debian's libJerasure returns. */
static const uint8_t liber8tion[8][8] = {{0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80},
                                         {0x80, 0x08, 0x01, 0x04, 0xc0, 0x02, 0x20, 0x10},
                                         {0x40, 0x0c, 0x10, 0x01, 0x80, 0x08, 0x02, 0x20},
                                         {0x04, 0x20, 0x80, 0x40, 0x01, 0x18, 0x10, 0x02},
                                         {0x20, 0x40, 0x03, 0x80, 0x04, 0x10, 0x08, 0x01},
                                         {0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x05},
                                         {0x08, 0x01, 0x40, 0x20, 0x02, 0x80, 0x30, 0x04},
                                         {0x10, 0x80, 0x02, 0x22, 0x08, 0x04, 0x01, 0x40}};

int *liber8tion_coding_bitmatrix(int k) {
  const int w = 8;
  int *made = k < 1 || k > w ? NULL : new_bitmatrix(k, w);
  for (int n = 0; made != NULL && n < k * w * w; n++) {
    int block = n / (w * w), row = n / w % w, column = n % w;
    if (liber8tion[block][row] >> column & 1)
      set(made, k, w, block, row, column);
  }
  return made;
}
