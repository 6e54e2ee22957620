#!/bin/sh
# make check: layout, lint, types, and a comparison of gen_out/ with the generator's output.
set -eu
cd "$(dirname "$0")/.."
bin=.venv/bin

for file in "$bin"/mypy bindings/python/gfsmith/codec/_native.abi3.so; do
  test -e "$file" || {
    echo "tools/check.sh: $file is missing; run make check" >&2
    exit 1
  }
done

# mypy, which uses one CPU, runs beside the steps up to the comparison of gen_out/, which uses all CPUs.
types() {
  "$bin"/mypy --no-error-summary &&
    "$bin"/mypy --no-error-summary packaging/check_linked.py &&
    MYPYPATH=packaging "$bin"/mypy --no-error-summary packaging/release
}

found=$(mktemp)
trap 'rm -f "$found"' EXIT
types >"$found" 2>&1 &
typing=$!

echo "check: python layout, lint"
"$bin"/ruff format --check --quiet setup.py packaging/check_linked.py packaging/release generator judge bindings/python tests tools bench research examples/python
"$bin"/ruff check --quiet setup.py packaging/check_linked.py packaging/release generator judge bindings/python tests tools bench research examples/python

echo "check: no merge has left its marks"
if git grep -nE '^(<<<<<<<|>>>>>>>|\|\|\|\|\|\|\|)( |$)|^=======$'; then
  echo "check: resolve these conflicts" >&2
  exit 1
fi

echo "check: prose follows docs/style.md"
"$bin"/python -m tools.prose

echo "check: C layout"
git ls-files '*.c' '*.h' | grep -v '^tests/unit/golden/expected/' | xargs clang-format-19 --dry-run -Werror

echo "check: generated lists match the tables of the generator"
"$bin"/python -m tools.facts --check

echo "check: pictures match their data"
"$bin"/python -m tools.pictures --check

echo "check: python types"
wait "$typing" || {
  cat "$found" >&2
  exit 1
}

echo "check: gen_out/ is reproducible and MANIFEST.json is the committed one"
"$bin"/gfsmith gen --check
git diff --exit-code --stat -- gen_out/MANIFEST.json || {
  echo "check: the generator's kernels differ from gen_out/MANIFEST.json; commit it" >&2
  exit 1
}

echo "check: docs/default-set.md states the default set"
"$bin"/gfsmith list --summary | while IFS= read -r row; do
  grep -qxF "$row" docs/default-set.md || {
    echo "check: docs/default-set.md lacks the row: $row" >&2
    exit 1
  }
done

echo "check: the binary interfaces of the shared libraries are the recorded ones"
make --no-print-directory -j"$(nproc 2>/dev/null || echo 2)" lib shards
tools/abi.sh check
echo "check: all good"
