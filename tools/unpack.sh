#!/bin/sh
# Unpack programs of a package of another suite of Debian: tools/unpack.sh PACKAGE/SUITE FOLDER PROGRAM...
# apt has its own list of sources and its own state here, so neither its configuration nor the installed packages
# change. The mirror is that of the system's sources; apt checks the signatures with Debian's keys.
set -eu

package=${1%%/*} suite=${1#*/} folder=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m1 '/debian/*$' || true)
[ -n "$mirror" ] || { echo "unpack.sh: no source of apt ends in /debian, so $suite is not known" >&2; exit 1; }
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' \
  "$mirror" "$suite" >"$work/sources.list"

private() { # COMMAND...: apt-get with the list of sources, the state and the user of this script
  apt-get -qq -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}
private update
(cd "$work" && private download "$package")
dpkg-deb --fsys-tarfile "$work/$package"_*.deb >"$work/files.tar"
for program in "$@"; do
  tar -xOf "$work/files.tar" "./usr/bin/$program" >"$work/$program"
  [ -s "$work/$program" ]
  install -m 755 "$work/$program" "$folder/$program"
done
