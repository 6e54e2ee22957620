#!/bin/sh
# Check or record the binary interfaces of libgfsmith.so and libgfsmith-shards.so on x86-64 with libabigail:
# tools/abi.sh check|record [LIBRARY...]. The records are runtime/abi/NAME.abi. Each contains the functions and their
# types in the public headers.
set -eu
cd "$(dirname "$0")/.."

usage='usage: tools/abi.sh check|record [LIBRARY...]'
action=${1:?$usage}
shift
[ $# -gt 0 ] || set -- build/libgfsmith.so build/libgfsmith-shards.so

for tool in abidw abidiff readelf; do
  command -v "$tool" >/dev/null || {
    echo "abi: $tool is missing: apt-get install abigail-tools binutils" >&2
    exit 2
  }
done

# Set `name`, `record` and `include` for a library that can be compared.
examine() {
  library=$1
  name=$(basename "$library" .so)
  record=runtime/abi/$name.abi
  case $name in
  libgfsmith) include=runtime/core/include ;;
  libgfsmith-shards) include=runtime/shards/include ;;
  *)
    echo "abi: $library: allowed: libgfsmith.so, libgfsmith-shards.so, in any folder" >&2
    exit 2
    ;;
  esac
  include=${GFSMITH_ABI_HEADERS:-$include}
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
}

# Write the interface of the library to a file.
describe() {
  abidw --headers-dir "$include" --drop-private-types --exported-interfaces-only --no-elf-needed \
    --no-corpus-path --no-comp-dir-path --no-show-locs --out-file "$1" "$library"
}

record_library() {
  describe "$record.new" && mv "$record.new" "$record" && echo "abi: recorded $library in $record"
}

# Compares two descriptions: abidiff takes the types of a record for private if the other side is a library.
check_library() {
  describe "$scratch" || return 1
  if abidiff "$record" "$scratch"; then
    return 0
  elif abidiff --no-added-syms "$record" "$scratch" >/dev/null; then
    echo "abi: $library has functions that $record lacks; if they are intended: make abi" >&2
  else
    echo "abi: programs that were linked with an earlier $name.so may break with $library (see above)." >&2
    echo "abi: if that is intended, raise SOVERSION in packaging/make/library.mk, then: make facts && make abi" >&2
  fi
  return 1
}

case $action in
record | check) ;;
*)
  echo "$usage" >&2
  exit 2
  ;;
esac
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT
status=0
for library; do
  examine "$library"
  "${action}_library" || status=1
done
exit "$status"
