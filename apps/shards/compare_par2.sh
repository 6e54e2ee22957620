#!/bin/sh
# Times of gfsmith-shards par2 and Debian's par2 on the same file, in turn: compare_par2.sh PROGRAM WORKDIR [MIB] [ROUNDS]
# Both create sets of 2000 blocks with 10 % recovery blocks with two threads, each followed by a verify of the other tool.
# A round takes two minutes with 256 MiB on two cores.
set -eu
program=$1 work=$2 mib=${3:-256} rounds=${4:-3}
mkdir -p "$work"
head -c "${mib}M" /dev/urandom >"$work/data.bin"

timed() { # NAME COMMAND...: prints wall time, user and system time, memory
  name=$1
  shift
  /usr/bin/time -f "$name %e s wall, %U + %S s CPU, %M KiB" "$@" >/dev/null
}

for _ in $(seq "$rounds"); do
  rm -f "$work"/*.par2
  timed "gfsmith-shards par2 create" "$program" par2 create -q -t 2 "$work/ours.par2" "$work/data.bin"
  timed "par2 create               " par2 create -q -q -t2 -b2000 -r10 "$work/theirs.par2" "$work/data.bin"
  timed "gfsmith-shards par2 verify" "$program" par2 verify -q -t 2 "$work/theirs.par2"
  timed "par2 verify               " par2 verify -q -q -t2 "$work/ours.par2"
done
rm -rf "$work"
