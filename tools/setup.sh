#!/bin/sh
# Install what a level of work needs and make the virtual environment:
# tools/setup.sh gen|lib|compose|python|wasm|tune|test|bench|bench-compose.
# As root on Debian everything missing is installed; elsewhere each missing thing is named, with the
# command that gets it. What is already there is left alone, and then nothing is fetched.
set -eu

level=${1:?usage: tools/setup.sh gen|lib|compose|python|wasm|tune|test|bench|bench-compose}
root=$(cd "$(dirname "$0")/.." && pwd)
python=/usr/bin/python3
venv=$root/.venv
export DEBIAN_FRONTEND=noninteractive

say() { printf 'setup: %s\n' "$*" >&2; }

refreshed=no
install_packages() {
  if [ "$refreshed" = no ]; then
    apt-get update -qq >&2
    refreshed=yes
  fi
  say "installing $*"
  apt-get install -y -qq --no-install-recommends "$@" >"$root/.setup.log" 2>&1 || {
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
    say "missing: $python (runs the generator); get it with: apt-get install python3 python3-venv"
    exit 1
  fi
fi

# The bench and tuning need what the library needs; what is more follows at the end.
base=$level
case $level in bench | tune) base=lib ;; bench-compose) base=compose ;; esac
lacking=$("$python" "$root/generator/gfsmith/doctor.py" "$base")
if [ -n "$lacking" ]; then
  # shellcheck disable=SC2086
  install_packages $lacking
fi

# The lock names every package with its version; the stamp says that this lock is installed.
stamp=$venv/.installed
if ! { [ -x "$venv/bin/gfsmith" ] && cmp -s "$stamp" "$root/requirements.txt"; }; then
  say "making .venv"
  [ -x "$venv/bin/python" ] || "$python" -m venv --system-site-packages "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
    -r "$root/requirements.txt" >&2
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
    --no-deps --no-build-isolation --editable "$root" >&2
  cp "$root/requirements.txt" "$stamp"
fi

# Further packages, pinned, for what draws and searches, and for what runs WebAssembly.
install_more() { # NAME of the list
  stamp=$venv/.installed-$1
  if ! cmp -s "$stamp" "$root/requirements-$1.txt"; then
    say "installing what $level needs into .venv: requirements-$1.txt"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
      -c "$root/requirements.txt" -r "$root/requirements-$1.txt" >&2
    cp "$root/requirements-$1.txt" "$stamp"
  fi
}
case $level in tune | test | bench | bench-compose) install_more tune ;; esac
case $level in python | test) install_more python ;; esac
if [ "$level" = test ]; then
  install_more wasm
  install_more fuzz
  install_more zig
  install_more store
fi
want() { # PACKAGE, then what must be there: a command or a file
  command -v "$2" >/dev/null 2>&1 || [ -e "$2" ] || printf '%s\n' "$1"
}
if [ "$level" = bench-compose ]; then
  ycsb=$(
    want default-jdk-headless javac
    want maven mvn
  )
  if [ -n "$ycsb" ] && can_install; then
    # shellcheck disable=SC2086
    install_packages $ycsb
  fi
fi
[ "$level" = bench ] || exit 0

# Peers: a missing tool is no error here, the bench names the peers that it could not build. Go is not
# installed: this version of klauspost/reedsolomon needs 1.24, Debian 12 has 1.19, which is for the tests.
peers=$(
  want nasm nasm
  want cargo-web cargo
  want libjerasure-dev /usr/include/jerasure.h
  want libgf-complete-dev /usr/include/gf_complete.h
)
if [ -n "$peers" ] && can_install; then
  # shellcheck disable=SC2086
  install_packages $peers
fi
