#!/bin/sh
# Install the requirements of a level of work and create the virtual environment: tools/setup.sh LEVEL.
# The levels are in generator/gfsmith/build/requirements.py.
# As root on Debian the script installs everything that is missing; on other systems it lists missing tools and how to
# install them. It does not change installed tools, and if nothing is missing it downloads nothing.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
python=/usr/bin/python3
venv=$root/.venv
lists=$root/packaging/requirements
export DEBIAN_FRONTEND=noninteractive

say() { printf 'setup: %s\n' "$*" >&2; }

# Two runs at once, as of `make -j2 lib python`, would both create .venv, and one would not get apt's lock.
if command -v flock >/dev/null 2>&1; then
  exec 9<"$root"
  flock 9 2>/dev/null || : # a file system without locks
fi

refreshed=no
install_packages() {
  if [ "$refreshed" = no ]; then
    apt-get update -qq >&2 9<&-
    refreshed=yes
  fi
  say "installing $*"
  apt-get install -y -qq --no-install-recommends "$@" >"$root/.setup.log" 2>&1 9<&- || {
    cat "$root/.setup.log" >&2
    exit 1
  }
  rm -f "$root/.setup.log"
}

can_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }

if [ ! -x "$python" ]; then
  if can_install; then
    install_packages python3 python3-venv
  else
    say "missing: $python (runs the generator); get it with one of: apt-get install python3 python3-venv," \
      "dnf install python3, apk add python3, pacman -S python, brew install python"
    exit 1
  fi
fi

missing_packages() { PYTHONPATH="$root/generator" "$python" -m gfsmith.build.requirements "$@"; }
lacking=$(missing_packages "$@")
level=$1
installed='' unpacked=''
for each in $lacking; do
  case $each in */*:*) unpacked="$unpacked $each" ;; *) installed="$installed $each" ;; esac
done
if [ -n "$installed" ]; then
  # shellcheck disable=SC2086
  install_packages $installed
fi

# compile_modules compiles the modules of all packages on all CPUs, but for the packages' own tests. pip would compile
# these too, on one CPU.
changed=no
pip_install() {
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-compile "$@" >&2
  changed=yes
}
compile_modules() {
  # Templates of packages that are no modules are errors here.
  [ "$changed" = no ] || "$venv/bin/python" -m compileall -q -j 0 -x '/tests?/' "$venv/lib" >/dev/null 2>&1 || :
}

# Does .venv run another gfsmith than this one? It does if the folder was moved or copied, as .venv then names the old one, and
# it runs none with another Python than before. PYTHONPATH may name this gfsmith, too. A Python that fails is no reason.
runs_another() { # OPTION of python
  status=0
  "$venv/bin/python" -P "$@" -c 'import importlib.util, os, sys
found = importlib.util.find_spec("gfsmith")
same = found and found.origin and os.path.samefile(os.path.dirname(found.origin), "generator/gfsmith")
sys.exit(0 if same else 3)' 2>/dev/null || status=$?
  case $status in 3 | 126 | 127) return 0 ;; *) return 1 ;; esac
}
if [ -x "$venv/bin/gfsmith" ] && (cd "$root" && runs_another -E && runs_another); then
  say "removing .venv, which is that of another folder or Python"
  rm -rf "$venv"
fi

# The lock lists every package with its version; the stamp is a copy of the installed lock.
stamp=$venv/.installed
if ! { [ -x "$venv/bin/gfsmith" ] && cmp -s "$stamp" "$lists/environment.txt"; }; then
  say "creating .venv"
  [ -x "$venv/bin/python" ] || "$python" -m venv --system-site-packages "$venv"
  pip_install -r "$lists/environment.txt"
  pip_install --no-deps --no-build-isolation --editable "$root"
  cp "$lists/environment.txt" "$stamp"
fi

# The programs of a package together, beside pip: both wait for the network.
unpack_programs() {
  for package in $(printf '%s\n' "$@" | sed 's/:[^:]*$//' | sort -u); do
    programs=$(printf '%s\n' "$@" | sed -n "s|^$package:||p" | tr '\n' ' ')
    say "unpacking ${programs}of $package"
    # shellcheck disable=SC2086
    "$root/tools/unpack.sh" "$package" "$venv/bin" $programs >&2 ||
      say "$package lacks some of: ${programs}tests that need them are skipped and counted"
  done
}
unpacking=''
if [ -n "$unpacked" ]; then
  # shellcheck disable=SC2086
  unpack_programs $unpacked &
  unpacking=$!
fi

# Further pinned packages: for pictures and searches, for Python wheels, and for WebAssembly, fuzzing, Zig, releases and
# the store. One call of pip installs all lists.
more=''
need() { # NAME of a list
  cmp -s "$venv/.installed-$1" "$lists/$1.txt" || more="$more $1"
}
case $level in tune | check | test-all | bench | bench-compose) need tune ;; esac
case $level in python | test | test-all | release) need python ;; esac
case $level in site | test-all) need site ;; esac
case $level in release | test-all)
  need wasm
  need zig
  need release
  ;;
esac
if [ "$level" = test-all ]; then
  need fuzz
  need store
fi
if [ -n "$more" ]; then
  say "installing the requirements of $level into .venv:$more"
  set --
  for each in $more; do set -- "$@" -r "$lists/$each.txt"; done
  pip_install -c "$lists/environment.txt" "$@"
  for each in $more; do cp "$lists/$each.txt" "$venv/.installed-$each"; done
fi
[ -z "$unpacking" ] || wait "$unpacking"
compile_modules

# Programs for benchmarks and verdicts: a missing one is not an error here; the results list it. The
# script does not install Go: this version of klauspost/reedsolomon needs 1.24, and Debian 12 has 1.19, which the tests
# use.
case $level in bench) more=peers ;; bench-compose) more=ycsb ;; verdicts) more=foreign ;; *) exit 0 ;; esac
if can_install; then
  lacking=$(missing_packages "$more")
  if [ -n "$lacking" ]; then
    # shellcheck disable=SC2086
    install_packages $lacking
  fi
fi
