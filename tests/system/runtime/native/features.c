/* features: print the features that the library detects on this CPU. */
#include "names.h"

int main(void) {
  gfs_cpu_identity identity;
  gfs_cpu_identify(&identity);
  printf("cpu [%s] %x %x\nfeatures", identity.vendor, identity.family, identity.model);
  uint32_t nameless = features_print(gfs_cpu_features(), " ");
  puts("");
  return nameless != 0;
}
