/* A STUB, not Ceph's header: see ErasureCodeInterface.h. It has only the part of the registry that
 * a plugin uses. */
#ifndef CEPH_ERASURE_CODE_PLUGIN_H
#define CEPH_ERASURE_CODE_PLUGIN_H

#include <map>
#include <string>

#include "erasure-code/ErasureCodeInterface.h"

extern "C" {
const char *__erasure_code_version();
int __erasure_code_init(char *plugin_name, char *directory);
}

namespace ceph {

class ErasureCodePlugin {
public:
  void *library = nullptr;
  virtual ~ErasureCodePlugin() {}
  virtual int factory(const std::string &directory, ErasureCodeProfile &profile,
                      ErasureCodeInterfaceRef *erasure_code, std::ostream *ss) = 0;
};

class ErasureCodePluginRegistry {
public:
  static ErasureCodePluginRegistry singleton;
  static ErasureCodePluginRegistry &instance() { return singleton; }
  int add(const std::string &name, ErasureCodePlugin *plugin);
  std::map<std::string, ErasureCodePlugin *> plugins;
};

} // namespace ceph

#endif
