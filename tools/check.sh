#!/bin/sh
# make check: layout, lint, types, and that gen_out/ is what the generator makes.
set -eu
cd "$(dirname "$0")/.."
bin=.venv/bin

echo "check: python layout, lint, types"
"$bin"/ruff format --check --quiet setup.py generator tests tools bench examples/python
"$bin"/ruff check --quiet setup.py generator tests tools bench examples/python
"$bin"/mypy --no-error-summary

echo "check: C layout"
git ls-files '*.c' '*.h' | grep -v '^tests/golden/expected/' | xargs clang-format-19 --dry-run -Werror

echo "check: gen_out/ is reproducible and MANIFEST.json is the committed one"
"$bin"/gfsmith gen --check
git diff --exit-code --stat -- gen_out/MANIFEST.json || {
  echo "check: the generator makes other kernels than gen_out/MANIFEST.json records; commit it" >&2
  exit 1
}

echo "check: docs/default-set.md states the default set"
"$bin"/gfsmith list --summary | while IFS= read -r row; do
  grep -qxF "$row" docs/default-set.md || {
    echo "check: docs/default-set.md lacks the row: $row" >&2
    exit 1
  }
done

echo "check: docs/pictures are what their data give"
"$bin"/python -m tools.pictures --check
echo "check: the binary interface of libgfsmith.so is the recorded one"
make --no-print-directory -j"$(nproc 2>/dev/null || echo 2)" lib
tools/abi.sh check
echo "check: all good"
