/* A STUB, not Ceph's header: the part of Ceph 16's CrushWrapper that create_rule uses. The
 * positions of `crush`, `rules`, `max_rules` and `max_size` are those of ErasureCode::create_rule
 * in Debian's libec_isa.so; add_simple_rule is a function of libceph-common.so.2. In Ceph's tree
 * its own header is used. */
#ifndef CEPH_CRUSH_WRAPPER_H
#define CEPH_CRUSH_WRAPPER_H

#include <cstdint>
#include <map>
#include <ostream>
#include <string>

struct crush_rule {
  uint32_t len;
  uint8_t ruleset, type, min_size, max_size;
};

struct crush_map {
  void **buckets;
  crush_rule **rules;
  int32_t max_buckets;
  uint32_t max_rules;
};

class CrushWrapper {
public:
  int add_simple_rule(std::string name, std::string root, std::string failure_domain,
                      std::string device_class, std::string mode, int rule_type, std::ostream *err);

  void set_rule_mask_max_size(unsigned rule, int size) {
    if (crush != nullptr && rule < crush->max_rules && crush->rules[rule] != nullptr)
      crush->rules[rule]->max_size = uint8_t(size);
  }

private:
  std::map<int32_t, std::string> names[8]; // eight maps, each as large as any std::map
  crush_map *crush;
};

#endif
