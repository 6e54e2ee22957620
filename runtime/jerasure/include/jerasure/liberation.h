/* liberation.h: bit matrices of RAID-6 codes. */
#ifndef GFS_JERASURE_LIBERATION_H
#define GFS_JERASURE_LIBERATION_H

#ifdef __cplusplus
extern "C" {
#endif

int *liberation_coding_bitmatrix(int k, int w);
int *liber8tion_coding_bitmatrix(int k);
int *blaum_roth_coding_bitmatrix(int k, int w);

#ifdef __cplusplus
}
#endif

#endif
