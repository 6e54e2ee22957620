// ceph_host.cc: loads erasure-code plugins like Ceph and calls them through Ceph's interface.
// Usage: ceph_host libec_gfsmith.so [libec_isa.so]
// With Ceph's own plugin "isa" as second argument, it also checks that both give the same chunk
// sizes and chunks, and that each decodes the other's chunks.
#include "ceph_plugins.h"

static std::string bytes(bufferlist list) { return std::string(list.c_str(), list.length()); }

static std::vector<int> positions(const ceph::ErasureCodeInterface &code) {
  std::vector<int> made;
  for (auto n : code.get_chunk_mapping())
    made.push_back(int(n));
  return made;
}

#if __has_include("common/mini_flat_map.h")
#define WANTED_CHUNKS
#define SHARD_NUMBERS
#include "ceph_shards.h"
#endif

// One loss: checks that a plugin restores the chunks, also if another plugin wrote them.
static void lose(ceph::ErasureCodeInterface &reader, const Chunks &chunks,
                 const std::set<int> &lost, const std::string &object) {
  Chunks left = chunks, decoded;
  for (int n : lost)
    left.erase(n);
  std::set<int> available;
  for (const auto &chunk : left)
    available.insert(chunk.first);
  std::map<int, std::vector<std::pair<int, int>>> minimum;
  EXPECT(reader.minimum_to_decode(lost, available, &minimum) == 0);
  EXPECT(minimum.size() == reader.get_data_chunk_count());
  Chunks needed;
  for (const auto &one : minimum)
    needed[one.first] = left.at(one.first);
  EXPECT(reader.decode(lost, needed, &decoded, int(chunks.at(0).length())) == 0);
  for (int n : lost)
    EXPECT(bytes(decoded.at(n)) == bytes(chunks.at(n)));
  bufferlist whole;
  EXPECT(reader.decode_concat(needed, &whole) == 0);
  EXPECT(bytes(whole).compare(0, object.size(), object) == 0);
#ifdef WANTED_CHUNKS // headers whose interface has this function
  bufferlist second;
  EXPECT(reader.decode_concat({1}, needed, &second) == 0);
  EXPECT(bytes(second) == bytes(chunks.at(1)));
#endif
}

static void shape(const std::vector<std::string> &plugins, int k, int m,
                  const std::string &technique) {
  std::string said;
  std::vector<ceph::ErasureCodeInterfaceRef> codes;
  for (const auto &name : plugins) {
    codes.push_back(
        make(name, {{"k", std::to_string(k)}, {"m", std::to_string(m)}, {"technique", technique}},
             &said));
    EXPECT(codes.back() != nullptr);
    EXPECT(codes.back()->get_chunk_count() == unsigned(k + m));
    EXPECT(codes.back()->get_coding_chunk_count() == unsigned(m));
    EXPECT(codes.back()->get_sub_chunk_count() == 1 && codes.back()->get_chunk_mapping().empty());
  }
  for (unsigned size : {1u, 31u, 4096u, 100001u}) {
    bufferlist object = random_object(size);
    std::vector<Chunks> written(plugins.size());
    for (size_t n = 0; n < plugins.size(); n++) {
      EXPECT(codes[n]->get_chunk_size(size) == codes[0]->get_chunk_size(size));
      EXPECT(codes[n]->encode(numbers(k + m), object, &written[n]) == 0);
      EXPECT(written[n].size() == size_t(k + m));
      for (int c = 0; c < k + m; c++)
        EXPECT(bytes(written[n][c]) == bytes(written[0][c]));
    }
    for (auto &code : codes)
      for (int first = 0; first < k + m; first += 1 + k / 3)
        for (int count = 1; count <= m; count++) {
          std::set<int> lost;
          for (int n = 0; n < count; n++)
            lost.insert((first + n * 2) % (k + m));
          lose(*code, written[plugins.size() - 1], lost, bytes(object));
        }
  }
}

// Every key of a profile is answered, with the defaults of Ceph's own plugins.
static void profiles(const std::vector<std::string> &plugins) {
  const std::vector<ceph::ErasureCodeProfile> given = {
      {},
      {{"k", "4"}, {"m", "2"}, {"technique", "cauchy"}, {"crush-root", "ssd"}, {"w", "8"}},
      {{"k", ""},
       {"crush-root", ""},
       {"crush-failure-domain", "osd"},
       {"crush-device-class", "nvme"}},
      {{"k", "2"}, {"m", "2"}, {"mapping", "D_D_"}},
  };
  for (const auto &profile : given) {
    std::vector<ceph::ErasureCodeProfile> answers;
    for (const auto &name : plugins) {
      std::string said;
      ceph::ErasureCodeProfile changed = profile;
      ceph::ErasureCodeInterfaceRef code;
      std::ostringstream text;
      auto *plugin = ceph::ErasureCodePluginRegistry::instance().plugins.at(name);
      EXPECT(plugin->factory(".", changed, &code, &text) == 0);
      EXPECT(code->init(changed, &text) == 0); // as Ceph's monitor does
      EXPECT(code->get_profile() == changed);
      EXPECT(changed.at("crush-root") != "" && changed.at("crush-failure-domain") != "");
      EXPECT(changed.count("crush-device-class") == 1 && changed.at("m") != "");
      answers.push_back(changed);
    }
    EXPECT(answers.front() == answers.back());
  }
}

// With a mapping the chunks stand at other positions, and losses are repaired.
static void mapped(const std::vector<std::string> &plugins) {
  std::string said;
  auto plain = make("gfsmith", {{"k", "4"}, {"m", "2"}}, &said);
  auto code = make("gfsmith", {{"k", "4"}, {"m", "2"}, {"mapping", "_DD_DD"}}, &said);
  const std::vector<int> mapping = {1, 2, 4, 5, 0, 3};
  EXPECT(positions(*code) == mapping);
  EXPECT(positions(*make(plugins.back(), {{"k", "4"}, {"m", "2"}, {"mapping", "_DD_DD"}}, &said)) ==
         mapping);
  bufferlist object = random_object(10000);
  Chunks chunks, unmapped;
  EXPECT(code->encode(numbers(6), object, &chunks) == 0 &&
         plain->encode(numbers(6), object, &unmapped) == 0);
  for (int n = 0; n < 6; n++)
    EXPECT(bytes(chunks.at(mapping[n])) == bytes(unmapped.at(n)));
  for (int first = 0; first < 6; first++)
    for (int second = first; second < 6; second++)
      lose(*code, chunks, {first, second}, bytes(object));
}

static void refusals() {
  std::string said;
  EXPECT(make("gfsmith", {{"k", "none"}}, &said) == nullptr && said.find("k=none") == 0);
  EXPECT(make("gfsmith", {{"k", "250"}, {"m", "9"}}, &said) == nullptr && said.find("k=250") == 0);
  for (const char *wrong : {"liberation", ""})
    EXPECT(make("gfsmith", {{"technique", wrong}}, &said) == nullptr &&
           said.find("technique=") == 0);
  for (const char *wrong : {"DD_", "DDD_", "DDDDD_", ""})
    EXPECT(make("gfsmith", {{"k", "3"}, {"m", "3"}, {"mapping", wrong}}, &said) == nullptr &&
           said.find("mapping=") == 0);
  for (const char *key : {"crush-osds-per-failure-domain", "crush-num-failure-domains"}) {
    EXPECT(make("gfsmith", {{key, "2"}}, &said) == nullptr &&
           said.find(std::string(key) + "=2: not") == 0);
    EXPECT(make("gfsmith", {{key, "-1"}}, &said) != nullptr);
  }
  auto code = make("gfsmith", {}, &said);
  EXPECT(code != nullptr && code->get_data_chunk_count() == 7 &&
         code->get_coding_chunk_count() == 3);
  EXPECT(code->get_profile().at("technique") == "reed_sol_van");
  std::map<int, std::vector<std::pair<int, int>>> minimum;
  EXPECT(code->minimum_to_decode({0}, {1, 2, 3, 4, 5, 6}, &minimum) == -EIO && minimum.empty());
  bufferlist object = random_object(1000);
  Chunks chunks, decoded;
  EXPECT(code->encode(numbers(10), object, &chunks) == 0);
  for (int n : {0, 1, 2, 8})
    chunks.erase(n);
  EXPECT(code->decode({0}, chunks, &decoded, 0) == -EIO);
}

// Another profile replaces everything of the one before, and a refused one changes nothing.
static void replaced() {
  std::string said;
  std::ostringstream text;
  auto code = make("gfsmith", {{"k", "2"}, {"m", "1"}, {"mapping", "_DD"}}, &said);
  const bufferlist object = random_object(1000);
  Chunks before, after, plain;
  EXPECT(code->encode(numbers(3), object, &before) == 0);
  for (ceph::ErasureCodeProfile wrong : {ceph::ErasureCodeProfile{{"k", "0"}},
                                         {{"k", "9"}, {"mapping", "D"}},
                                         {{"k", "9"}, {"technique", "none"}},
                                         {{"k", "250"}, {"m", "9"}}})
    EXPECT(code->init(wrong, &text) == -EINVAL);
  EXPECT(code->get_profile().at("mapping") == "_DD" && code->get_chunk_count() == 3);
  EXPECT(code->encode(numbers(3), object, &after) == 0 &&
         bytes(before.at(0)) == bytes(after.at(0)));
  ceph::ErasureCodeProfile wide = {{"k", "4"}, {"m", "2"}};
  EXPECT(code->init(wide, &text) == 0 && code->get_chunk_mapping().empty());
  after.clear();
  EXPECT(code->encode(numbers(6), object, &after) == 0);
  EXPECT(make("gfsmith", wide, &said)->encode(numbers(6), object, &plain) == 0);
  for (int n = 0; n < 6; n++)
    EXPECT(bytes(after.at(n)) == bytes(plain.at(n)));
  EXPECT(code->get_chunk_size(0xffffffff) == 1u << 30);
}

int main(int count, char **arguments) {
  std::vector<std::string> plugins = {"gfsmith"};
  give_a_context();
  load("gfsmith", arguments[1]);
  if (count > 2) {
    load("isa", arguments[2]);
    plugins.push_back("isa");
  }
  refusals();
  profiles(plugins);
  mapped(plugins);
  replaced();
#ifdef SHARD_NUMBERS
  partial_writes();
#endif
  for (const char *technique : {"cauchy", "reed_sol_van"})
    for (auto [k, m] : {std::pair(2, 1), {4, 2}, {7, 3}, {8, 3}, {10, 4}})
      shape(plugins, k, m, technique);
  std::cout << checks << " checks" << std::endl;
  return 0;
}
