#!/usr/bin/env bash
# Measures gfsmith-shards, zfec and par2 with 10 + 4 shards on a random file, in alternating rounds.
# usage: compare.sh PROGRAM WORKDIR [MIB [ROUNDS]]     needs zfec, zunfec, par2 and GNU time
# Prints for each step: seconds, seconds of CPU (user, system), most memory in KiB. par2 runs in the last round only.
set -euo pipefail

if [ $# -lt 2 ] || [ $# -gt 4 ]; then
  echo "usage: compare.sh PROGRAM WORKDIR [MIB [ROUNDS]]" >&2
  exit 2
fi
program=$(realpath "$1")
mib=${3:-1024}
rounds=${4:-3}
for needed in zfec zunfec par2 /usr/bin/time; do
  command -v "$needed" >/dev/null || { echo "compare: $needed is missing" >&2; exit 2; }
done
mkdir -p "$2"
work=$(mktemp -d "$(realpath "$2")/compare.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$work"

step() {
  local name=$1
  shift
  /usr/bin/time -f "$name: %e s, CPU %U + %S s, %M KiB" "$@" >/dev/null
}

ours() {
  mkdir shards
  step "gfsmith-shards protect" "$program" protect -q file shards
  du -sb --apparent-size shards
  step "gfsmith-shards verify" "$program" verify -q shards
  rm shards/file.g1.00[0-3].gfs
  step "gfsmith-shards repair" "$program" repair -q shards
  rm shards/file.g1.00[0-3].gfs
  step "gfsmith-shards restore" "$program" restore -q shards -o copy
  cmp file copy
  rm -r shards copy
}

zfec_() {
  mkdir shares
  step "zfec" zfec -q -d shares -p f -k 10 -m 14 file
  du -sb --apparent-size shares
  rm shares/f.0[0-3]_14.fec
  step "zunfec" zunfec -o copy shares/*.fec
  cmp file copy
  rm -r shares copy
}

# Recovery data of 40 %, and the loss of 40 % of the file.
par2_() {
  mkdir set
  ln file set/file
  cd set
  step "par2 create" par2 create -qq "-t$(nproc)" -s1048576 "-c$((mib * 4 / 10 + 1))" f.par2 file
  du -sb --apparent-size .
  step "par2 verify" par2 verify -qq "-t$(nproc)" f.par2
  rm file
  head -c "$((mib * 6 / 10))M" ../file >file
  step "par2 repair" par2 repair -qq "-t$(nproc)" f.par2
  cmp file ../file
  cd ..
}

head -c "${mib}M" /dev/urandom >file
for ((round = 0; round < rounds; round++)); do
  ours
  zfec_
done
par2_
