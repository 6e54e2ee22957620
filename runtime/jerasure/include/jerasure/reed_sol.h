/* reed_sol.h: Reed-Solomon matrices from Vandermonde matrices, and RAID-6. */
#ifndef GFS_JERASURE_REED_SOL_H
#define GFS_JERASURE_REED_SOL_H

#ifdef __cplusplus
extern "C" {
#endif

int *reed_sol_vandermonde_coding_matrix(int k, int m, int w);
int *reed_sol_extended_vandermonde_matrix(int rows, int cols, int w);
int *reed_sol_big_vandermonde_distribution_matrix(int rows, int cols, int w);

int reed_sol_r6_encode(int k, int w, char **data_ptrs, char **coding_ptrs, int size);
int *reed_sol_r6_coding_matrix(int k, int w);

void reed_sol_galois_w08_region_multby_2(char *region, int nbytes);
void reed_sol_galois_w16_region_multby_2(char *region, int nbytes);
void reed_sol_galois_w32_region_multby_2(char *region, int nbytes);

#ifdef __cplusplus
}
#endif

#endif
