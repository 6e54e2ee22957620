#!/usr/bin/env bash
# Protects a real file, deletes and corrupts as many shards as the code can repair, repairs, restores, compares.
# usage: demo.sh PROGRAM WORKDIR [K M [CODE]]
set -euo pipefail

readonly WANTED=$((200 * 1000 * 1000))

if [ $# -ne 2 ] && [ $# -ne 4 ] && [ $# -ne 5 ]; then
  echo "usage: demo.sh PROGRAM WORKDIR [K M [CODE]]" >&2
  exit 2
fi
program=$(realpath "$1")
mkdir -p "$2"
work=$(mktemp -d "$(realpath "$2")/demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
k=${3:-10}
m=${4:-4}
code=${5:-cauchy}
shards=shards
cd "$work"

step() {
  printf '\n== %s\n' "$*"
}

run() {
  printf '$ gfsmith-shards %s\n' "$*"
  "$program" "$@"
}

# Choose the largest file below /usr if it is large enough, else create a tar of enough libraries.
choose_input() {
  local largest
  # awk reads to the end, so that find does not end by SIGPIPE
  largest=$(find /usr -xdev -type f -readable -size +195312k -printf '%s\t%p\n' 2>/dev/null |
    awk -F '\t' -v least="$WANTED" '$1 >= least && $1 > best { best = $1; path = $2 } END { print path }')
  if [ -n "$largest" ]; then
    echo "$largest"
    return
  fi
  find /usr/lib /usr/bin /usr/share -xdev -type f -readable -printf '%s\t%p\n' 2>/dev/null | sort -rn |
    awk -F '\t' -v least="$WANTED" 'sum < least { sum += $1; print $2 }' >list
  tar -cf usr.tar -P -T list
  echo usr.tar
}

checksum() {
  sha256sum "$1" | cut -d ' ' -f 1
}

shard() {
  printf '%s/%s.g1.%03d.gfs' "$shards" "$name" "$1"
}

# Delete data shards, from index 0 upwards, then parities, from the last one downwards, so that both kinds are
# rebuilt. Shard `survivor` is kept.
delete_shards() {
  local count=$1 i
  survivor=$(((count + 1) / 2 < k ? (count + 1) / 2 : k))
  for ((i = 0; i < count; i++)); do
    local index=$((i < survivor ? i : k + m - 1 - (i - survivor)))
    echo "delete $(shard "$index")"
    rm "$(shard "$index")"
  done
}

# Corrupt four bytes in the middle of one shard: each is XORed with 0xff.
corrupt_shard() {
  local file byte offset
  file=$(shard "$1")
  offset=$(($(stat -c %s "$file") / 2))
  for ((i = 0; i < 4; i++, offset++)); do
    byte=$(od -An -tu1 -j "$offset" -N 1 "$file")
    # shellcheck disable=SC2059  # the escape is the format
    printf "\\x$(printf '%02x' $((byte ^ 255)))" |
      dd of="$file" bs=1 seek="$offset" conv=notrunc status=none
  done
  echo "flip 4 bytes in the middle of $file"
}

repair_and_compare() {
  local status=0
  run verify "$shards" || status=$?
  if [ "$status" -ne 1 ]; then
    echo "demo: verify should have found the damage (exit status $status)" >&2
    exit 1
  fi
  run repair "$shards"
  run verify "$shards"
  run restore --force "$shards" -o restored
  local after
  after=$(checksum restored)
  echo "sha256 before $before"
  echo "sha256 after  $after"
  [ "$before" = "$after" ] || { echo "demo: the file changed" >&2; exit 1; }
}

input=$(choose_input)
name=${input##*/}
size=$(stat -L -c %s "$input")
if [ "$size" -lt "$WANTED" ]; then
  echo "demo: found no 200 MB of files below /usr" >&2
  exit 1
fi
before=$(checksum "$input")

step "protect $input ($size bytes) into $k + $m shards, $code"
run protect -c "$code" -k "$k" -m "$m" "$input" "$shards"

step "delete $m shards and repair"
delete_shards "$m"
repair_and_compare

step "corrupt one shard, delete $((m - 1)) and repair"
delete_shards "$((m - 1))"
corrupt_shard "$survivor"
repair_and_compare

printf '\ndemo: all steps succeeded\n'
