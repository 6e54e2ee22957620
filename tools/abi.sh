#!/bin/sh
# Check or record the binary interface of libgfsmith.so on x86-64 with libabigail: tools/abi.sh check|record [LIBRARY].
# The record is runtime/abi/libgfsmith.abi. It contains the functions and their types in the public headers.
set -eu
cd "$(dirname "$0")/.."

usage='usage: tools/abi.sh check|record [LIBRARY]'
action=${1:?$usage}
library=${2:-build/libgfsmith.so}
record=runtime/abi/libgfsmith.abi
include=${GFSMITH_ABI_HEADERS:-runtime/core/include}

for tool in abidw abidiff readelf; do
  command -v "$tool" >/dev/null || {
    echo "abi: $tool is missing: apt-get install abigail-tools binutils" >&2
    exit 2
  }
done
machine=$(readelf -h "$library" | sed -n 's/^ *Machine: *//p')
case $machine in
*X86-64) ;;
*)
  echo "abi: the interface is recorded for x86-64; $library is for $machine" >&2
  exit 2
  ;;
esac
readelf -SW "$library" | grep -q ' \.debug_info ' || {
  echo "abi: $library has no debugging information: build it with -g in CFLAGS" >&2
  exit 2
}

# Print the differences between the library and the record; return 0 if there are none.
differs() { abidiff --headers-dir2 "$include" --drop-private-types "$@" "$record" "$library"; }

case $action in
record)
  abidw --headers-dir "$include" --drop-private-types --exported-interfaces-only --no-elf-needed \
    --no-corpus-path --no-comp-dir-path --no-show-locs --out-file "$record.new" "$library"
  mv "$record.new" "$record"
  echo "abi: recorded $library in $record"
  ;;
check)
  if differs; then
    exit 0
  elif differs --no-added-syms >/dev/null; then
    echo "abi: $library has functions that $record lacks; if they are intended: make abi" >&2
  else
    echo "abi: programs that were linked with an earlier libgfsmith.so may break with $library (see above)." >&2
    echo "abi: if that is intended, raise SOVERSION in packaging/make/library.mk, then: make facts && make abi" >&2
  fi
  exit 1
  ;;
*)
  echo "$usage" >&2
  exit 2
  ;;
esac
