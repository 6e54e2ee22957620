/* ErasureCodePluginGfsmith.cc: gfsmith as an erasure-code plugin of Ceph, releases 16 to 20:
 * libec_gfsmith.so.
 *
 * Profile: the keys of Ceph's own plugin "isa", with the same defaults and matrices. Chunks equal
 * those of "isa". README.md. */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "ceph_ver.h"
#include "crush/CrushWrapper.h"
#include "erasure-code/ErasureCodePlugin.h"
#include "gfsmith.h"

#if __has_include("common/mini_flat_map.h") // from release 20 on
#include "shard_numbers.h"
#define SHARD_NUMBERS
#endif

namespace {

using ceph::bufferlist;
using ceph::bufferptr;
using Chunks = std::map<int, bufferlist>;

// Chunk lengths are multiples of this number, as with "isa"; gfsmith itself accepts any length.
constexpr unsigned ALIGNMENT = 32;
constexpr unsigned CACHE_LINE = 64;
constexpr unsigned MOST_BYTES = 1u << 30; // of a chunk

// The type of the number of a chunk: int, or shard_id_t, which has one byte.
using Number = std::decay_t<
    decltype(std::declval<ceph::ErasureCodeInterface>().get_chunk_mapping())>::value_type;
constexpr unsigned MOST_CHUNKS = sizeof(Number) == 1 ? 128 : GFSMITH_MAX_SHARDS;

constexpr int TYPE_ERASURE = 3; // of a CRUSH rule: pg_pool_t::TYPE_ERASURE

// Rules of newer releases have no largest size.
template <class Crush>
auto set_size(Crush &crush, int rule, int size, int)
    -> decltype(crush.set_rule_mask_max_size(rule, size), void()) {
  crush.set_rule_mask_max_size(rule, size);
}
template <class Crush> void set_size(Crush &, int, int, long) {}

struct Destroy {
  void operator()(gfsmith_codec *codec) const { gfsmith_codec_destroy(codec); }
};

// A profile, and its code.
struct Settings {
  ceph::ErasureCodeProfile profile;
  std::string root, failure_domain, device_class;
  std::vector<Number> mapping; // the chunk of each shard, data first; empty: chunk n is shard n
  using Codec = std::unique_ptr<gfsmith_codec, Destroy>;
  Codec codec, copy; // copy: the code whose parity is its only data shard; an update adds to it
  unsigned k = 0, m = 0;

  int read(std::ostream *ss) {
    root = text("crush-root", "default");
    failure_domain = text("crush-failure-domain", "host");
    device_class = text("crush-device-class", "");
    if (!number("k", "7", &k, ss) || !number("m", "3", &m, ss) || !place(ss) ||
        !one_chunk_a_domain(ss))
      return -EINVAL;
    profile.emplace("technique", "reed_sol_van");
    const std::string &technique = profile["technique"];
    if (technique != "reed_sol_van" && technique != "cauchy") {
      *ss << "technique=" << technique << ": reed_sol_van or cauchy";
      return -EINVAL;
    }
    if (k + m > MOST_CHUNKS) {
      *ss << "k=" << k << " m=" << m << ": at most " << MOST_CHUNKS << " chunks";
      return -EINVAL;
    }
    // With one parity "isa" computes the sum of the data for any technique.
    const char *code = technique == "cauchy" && m > 1 ? "cauchy" : "vandermonde";
    gfsmith_status status = create(&codec, code, k, m);
    if (status == GFSMITH_OK)
      status = create(&copy, "vandermonde", 1, 1);
    if (status != GFSMITH_OK) {
      *ss << "k=" << k << " m=" << m << " technique=" << technique << ": "
          << gfsmith_strerror(status);
      return status == GFSMITH_ENOMEM ? -ENOMEM : -EINVAL;
    }
    return 0;
  }

private:
  static gfsmith_status create(Codec *codec, const char *code, unsigned k, unsigned m) {
    gfsmith_codec *made = nullptr;
    gfsmith_status status = gfsmith_codec_create(&made, code, k, m);
    codec->reset(made);
    return status;
  }

  // Returns the value of a key, which an absent or empty one gets in the profile.
  const std::string &text(const char *key, const char *otherwise) {
    std::string &value = profile[key];
    return value.empty() ? value = otherwise : value;
  }

  bool number(const char *key, const char *otherwise, unsigned *value, std::ostream *ss) {
    const std::string &given = text(key, otherwise);
    bool digits = given.find_first_not_of("0123456789") == std::string::npos;
    *value = digits && given.size() <= 3 ? std::stoul(given) : 0;
    if (*value == 0)
      *ss << key << "=" << given << ": a number from 1 to " << GFSMITH_MAX_SHARDS - 1;
    return *value > 0;
  }

  // Rules of releases from 19 on can place several chunks in a failure domain; -1 is their default.
  bool one_chunk_a_domain(std::ostream *ss) const {
    for (const char *key : {"crush-osds-per-failure-domain", "crush-num-failure-domains"}) {
      auto found = profile.find(key);
      if (found == profile.end() || found->second.empty() || found->second == "-1")
        continue;
      *ss << key << "=" << found->second << ": not supported; allowed: -1";
      return false;
    }
    return true;
  }

  // Reads "mapping": one letter for each chunk, D for data.
  bool place(std::ostream *ss) {
    auto found = profile.find("mapping");
    if (found == profile.end())
      return true;
    const std::string &letters = found->second;
    for (bool data : {true, false})
      for (size_t n = 0; n < letters.size(); n++)
        if ((letters[n] == 'D') == data)
          mapping.push_back(Number(n));
    bool fits =
        mapping.size() == k + m && size_t(std::count(letters.begin(), letters.end(), 'D')) == k;
    if (!fits)
      *ss << "mapping=" << letters << ": " << k + m << " letters, " << k << " of them D";
    return fits;
  }
};

// The interface whose chunks have numbers of the type int.
class ErasureCodeGfsmith : public ceph::ErasureCodeInterface, protected Settings {
public:
  // Ceph's monitor initialises the result of factory() once more. After an error everything is as
  // before.
  int init(ceph::ErasureCodeProfile &given, std::ostream *ss) override {
    Settings fresh;
    fresh.profile = given;
    int status = fresh.read(ss);
    if (status != 0)
      return status;
    given = fresh.profile;
    static_cast<Settings &>(*this) = std::move(fresh);
    return 0;
  }

  const ceph::ErasureCodeProfile &get_profile() const override { return profile; }

  // Placement does not depend on the code: this is the rule of Ceph's own plugins.
  int create_rule(const std::string &name, CrushWrapper &crush, std::ostream *ss) const override {
    int rule =
        crush.add_simple_rule(name, root, failure_domain, device_class, "indep", TYPE_ERASURE, ss);
    if (rule >= 0)
      set_size(crush, rule, k + m, 0);
    return rule;
  }

  unsigned get_chunk_count() const override { return k + m; }
  unsigned get_data_chunk_count() const override { return k; }
  unsigned get_coding_chunk_count() const override { return m; }
  int get_sub_chunk_count() override { return 1; }
  const std::vector<Number> &get_chunk_mapping() const override { return mapping; }

  unsigned get_chunk_size(unsigned object_size) const override {
    uint64_t least = (uint64_t(object_size) + k - 1) / k;
    return (least + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }

  int minimum_to_decode(const std::set<int> &want, const std::set<int> &available,
                        std::map<int, std::vector<std::pair<int, int>>> *minimum) override {
    std::set<int> chosen;
    int status = choose(want, available, &chosen);
    for (int n : chosen)
      (*minimum)[n] = {{0, 1}}; // the whole of its only sub-chunk
    return status;
  }

  int minimum_to_decode_with_cost(const std::set<int> &want, const std::map<int, int> &available,
                                  std::set<int> *minimum) override {
    std::set<int> numbers;
    for (const auto &chunk : available)
      numbers.insert(chunk.first);
    return choose(want, numbers, minimum);
  }

  int encode(const std::set<int> &want, const bufferlist &in, Chunks *encoded) override {
    if (in.length() > uint64_t(MOST_BYTES) * k)
      return -EINVAL;
    unsigned size = get_chunk_size(in.length()), at = 0;
    for (unsigned n = 0; n < k + m; n++) {
      bufferptr chunk = room(size);
      unsigned part = n < k ? std::min(size, in.length() - at) : 0;
      if (part > 0)
        in.begin(at).copy(part, chunk.c_str());
      at += part;
      std::memset(chunk.c_str() + part, 0, size - part);
      (*encoded)[chunk_of(n)].push_back(std::move(chunk));
    }
    int status = encode_chunks(want, encoded);
    for (unsigned n = 0; n < k + m; n++)
      if (want.count(n) == 0)
        encoded->erase(n);
    return status;
  }

  int encode_chunks(const std::set<int> &, Chunks *encoded) override {
    std::vector<uint8_t *> shards;
    int size = gather(encoded, &shards);
    if (size < 0)
      return size;
    return code(gfsmith_encode(codec.get(), size, shards.data(), shards.data() + k));
  }

  int decode(const std::set<int> &want, const Chunks &chunks, Chunks *decoded, int) override {
    if (chunks.empty())
      return -EIO;
    unsigned size = chunks.begin()->second.length();
    bool all = true;
    for (unsigned n = 0; n < k + m; n++) {
      auto found = chunks.find(n);
      if (found == chunks.end())
        (*decoded)[n].push_back(room(size));
      else
        (*decoded)[n] = found->second;
      all = all && (found != chunks.end() || want.count(n) == 0);
    }
    return all ? 0 : decode_chunks(want, chunks, decoded);
  }

  // Rebuilds the wanted missing chunks, in the buffers of *decoded.
  int decode_chunks(const std::set<int> &want, const Chunks &chunks, Chunks *decoded) override {
    std::vector<uint8_t *> shards;
    int size = gather(decoded, &shards);
    if (size < 0)
      return size;
    std::unique_ptr<bool[]> present(new bool[k + m]), wanted(new bool[k + m]);
    for (unsigned n = 0; n < k + m; n++) {
      present[n] = chunks.count(chunk_of(n)) > 0;
      wanted[n] = want.count(chunk_of(n)) > 0;
    }
    return code(gfsmith_reconstruct(codec.get(), size, shards.data(), present.get(), wanted.get()));
  }

  int decode_concat(const Chunks &chunks, bufferlist *decoded) override {
    std::set<int> data;
    for (unsigned n = 0; n < k; n++)
      data.insert(chunk_of(n));
    return decode_concat(data, chunks, decoded);
  }

  // Concatenates the wanted ones of the data chunks. Newer releases have it in their interface.
  int decode_concat(const std::set<int> &want, const Chunks &chunks, bufferlist *decoded) {
    Chunks all;
    int status = decode(want, chunks, &all, 0);
    for (unsigned n = 0; n < k && status == 0; n++)
      if (want.count(chunk_of(n)) > 0)
        decoded->claim_append(all[chunk_of(n)]);
    return status;
  }

protected:
  static bufferptr room(unsigned size) {
    return bufferptr(ceph::buffer::create_aligned(size, CACHE_LINE));
  }

  static int code(gfsmith_status status) {
    return status == GFSMITH_OK ? 0 : status == GFSMITH_ENOMEM ? -ENOMEM : -EIO;
  }

  int chunk_of(unsigned shard) const { return mapping.empty() ? int(shard) : int(mapping[shard]); }

  // Chooses the wanted chunks if all are available, else any k chunks, since the codes are MDS.
  int choose(const std::set<int> &want, const std::set<int> &available,
             std::set<int> *chosen) const {
    bool all = true;
    for (int n : want)
      all = all && available.count(n) > 0;
    if (all) {
      *chosen = want;
      return 0;
    }
    if (available.size() < k)
      return -EIO;
    auto end = available.begin();
    std::advance(end, k);
    chosen->insert(available.begin(), end);
    return 0;
  }

  // Gets the bytes of all chunks, each contiguous, in the order of the shards, and their length.
  int gather(Chunks *chunks, std::vector<uint8_t *> *shards) const {
    if (chunks->size() != k + m)
      return -EINVAL;
    unsigned size = chunks->begin()->second.length();
    for (unsigned n = 0; n < k + m; n++) {
      auto found = chunks->find(chunk_of(n));
      if (found == chunks->end() || found->second.length() != size || size > MOST_BYTES)
        return -EINVAL;
      shards->push_back(reinterpret_cast<uint8_t *>(found->second.c_str()));
    }
    return size;
  }
};

#ifdef SHARD_NUMBERS
using Code = ShardNumbers<ErasureCodeGfsmith>;
#else
using Code = ErasureCodeGfsmith;
#endif

class ErasureCodePluginGfsmith final : public ceph::ErasureCodePlugin {
public:
  int factory(const std::string &, ceph::ErasureCodeProfile &profile,
              ceph::ErasureCodeInterfaceRef *erasure_code, std::ostream *ss) override {
    auto made = std::make_shared<Code>();
    int status = made->init(profile, ss);
    if (status == 0)
      *erasure_code = made;
    return status;
  }
};

} // namespace

extern "C" const char *__erasure_code_version() { return CEPH_GIT_NICE_VER; }

extern "C" int __erasure_code_init(char *plugin_name, char *) {
  return ceph::ErasureCodePluginRegistry::instance().add(plugin_name, new ErasureCodePluginGfsmith);
}
