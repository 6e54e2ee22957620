/* cauchy.h: Cauchy matrices. */
#ifndef GFS_JERASURE_CAUCHY_H
#define GFS_JERASURE_CAUCHY_H

#ifdef __cplusplus
extern "C" {
#endif

int *cauchy_original_coding_matrix(int k, int m, int w);
int *cauchy_xy_coding_matrix(int k, int m, int w, int *x, int *y);
void cauchy_improve_coding_matrix(int k, int m, int w, int *matrix);
int *cauchy_good_general_coding_matrix(int k, int m, int w);
int cauchy_n_ones(int n, int w);

#ifdef __cplusplus
}
#endif

#endif
