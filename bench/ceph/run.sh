#!/bin/sh
# sh bench/ceph/run.sh: the calls of Ceph's plugins gfsmith and isa in one process, at real-time priority. It needs Debian's
# ceph-base and libradospp-dev, and `make lib`.
set -eu
work=build/bench/ceph
ceph=/usr/lib/x86_64-linux-gnu/ceph
mkdir -p "$work"
make -C examples/ceph BUILD="$PWD/$work"
g++ -std=c++17 -O2 -rdynamic -Wl,--no-as-needed -Iexamples/ceph/stub -Itests/system/isal/clients bench/ceph/plugins.cc \
  -o "$work/plugins" -lrados "$ceph/libceph-common.so.2" -Wl,-rpath,"$ceph" -ldl
printf '| call | k+m | bytes a chunk | isa, us | gfsmith, us | ratio |\n|---|---|---:|---:|---:|---:|\n'
chrt -f 10 taskset -c 1 "$work/plugins" "$work/libec_gfsmith.so" "$ceph/erasure-code/libec_isa.so"
