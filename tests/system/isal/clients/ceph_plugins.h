// ceph_plugins.h: loads erasure-code plugins like Ceph, and makes their codes and random objects.
#ifndef GFSMITH_CEPH_PLUGINS_H
#define GFSMITH_CEPH_PLUGINS_H

#include <dlfcn.h>
#include <rados/librados.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <sstream>

#include <ceph_ver.h>
#include <erasure-code/ErasureCodePlugin.h>

using ceph::bufferlist;
using Chunks = std::map<int, bufferlist>;

ceph::ErasureCodePluginRegistry ceph::ErasureCodePluginRegistry::singleton;

int ceph::ErasureCodePluginRegistry::add(const std::string &name, ErasureCodePlugin *plugin) {
  plugins[name] = plugin;
  return 0;
}

static long checks;

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    checks++;                                                                                      \
    if (!(condition)) {                                                                            \
      std::cout << __LINE__ << ": " #condition << std::endl;                                       \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

// The logger of Ceph's plugins needs a context, which Ceph's daemons normally supply.
static void give_a_context() {
  rados_t cluster;
  void **context = static_cast<void **>(dlsym(RTLD_DEFAULT, "_ZN4ceph6global14g_ceph_contextE"));
  if (context != nullptr && rados_create(&cluster, nullptr) == 0)
    *context = rados_cct(cluster);
}

static void load(const std::string &name, const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::cerr << dlerror() << std::endl;
    std::exit(2);
  }
  auto version =
      reinterpret_cast<decltype(&__erasure_code_version)>(dlsym(library, "__erasure_code_version"));
  auto init =
      reinterpret_cast<decltype(&__erasure_code_init)>(dlsym(library, "__erasure_code_init"));
  EXPECT(version != nullptr && init != nullptr);
  EXPECT(std::string(version()).rfind(CEPH_GIT_NICE_VER, 0) == 0);
  std::string given = name, directory = ".";
  EXPECT(init(given.data(), directory.data()) == 0);
  EXPECT(ceph::ErasureCodePluginRegistry::instance().plugins.count(name) == 1);
}

static ceph::ErasureCodeInterfaceRef make(const std::string &name, ceph::ErasureCodeProfile profile,
                                          std::string *said) {
  ceph::ErasureCodeInterfaceRef made;
  std::ostringstream text;
  auto *plugin = ceph::ErasureCodePluginRegistry::instance().plugins.at(name);
  int status = plugin->factory(".", profile, &made, &text);
  *said = text.str();
  return status == 0 ? made : nullptr;
}

static bufferlist random_object(unsigned size) {
  static std::mt19937 random(20261122);
  bufferlist object;
  // several buffers, as in Ceph's objects
  for (unsigned done = 0, part; done < size; done += part) {
    part = std::min(size - done, 1 + unsigned(random() % 5000));
    ceph::bufferptr piece(ceph::buffer::create_aligned(part, 16));
    for (unsigned n = 0; n < part; n++)
      piece.c_str()[n] = char(random());
    object.push_back(std::move(piece));
  }
  return object;
}

static std::set<int> numbers(int end) {
  std::set<int> all;
  for (int n = 0; n < end; n++)
    all.insert(n);
  return all;
}

#endif
