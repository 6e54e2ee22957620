/* features: print what the library finds of the CPU that this runs on. */
#include "names.h"

int main(void) {
  gfs_cpu_identity identity;
  gfs_cpu_identify(&identity);
  printf("cpu [%s] %x %x\nfeatures", identity.vendor, identity.family, identity.model);
  uint32_t nameless = features_print(gfs_cpu_features(), " ");
  puts("");
  return nameless != 0;
}
