#!/usr/bin/env bash
# Builds the onednn plugin against other oneDNNs than the system's and runs the plugins' and the contract's tests over each:
#   2.0    the package of Debian 11, unpacked beside the build: the 2.x that still has the Knights Landing kernels
#   3.7    the package of Debian 13, in a tree of that Debian with its own compiler and C library
# usage: onednn_versions.sh [WORK_FOLDER]     kept when given, else a temporary one that is removed
#   HBMARK_TREES=DIR   takes SUITE.tar (a minimal Debian system, as debootstrap --variant=minbase makes it) from there
# Needs root, debootstrap (or HBMARK_TREES) and the network. Ends with 0 passed, 1 failed, 77 skipped, saying why.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
jobs=$(nproc)
targets=(unit_plugins contract_suite)

skip() { echo "skipped: $*"; exit 77; }
say() { echo "== $*"; }

[ "$(id -u)" = 0 ] || skip "needs root, to unpack and enter another Debian"
unshare --mount true 2>/dev/null || skip "needs unshare --mount, which is refused here"
[ -n "${HBMARK_TREES:-}" ] || command -v debootstrap >/dev/null || skip "needs debootstrap (apt install debootstrap) or HBMARK_TREES"

if [ $# -gt 0 ]; then
  mkdir -p "$1"
  work=$(cd "$1" && pwd)
else
  work=$(mktemp -d)
  trap 'rm -rf --one-file-system "$work"' EXIT
fi

make_tree() {  # SUITE: a minimal system in $work/SUITE
  local suite=$1 tree=$work/$1
  if [ ! -e "$tree/etc/debian_version" ]; then
    mkdir -p "$tree"
    if [ -f "${HBMARK_TREES:-/nowhere}/$suite.tar" ]; then
      tar -C "$tree" -xf "$HBMARK_TREES/$suite.tar"
    else
      debootstrap --variant=minbase "$suite" "$tree" >"$work/$suite.log" 2>&1 ||
        skip "debootstrap $suite: $(tail -n 1 "$work/$suite.log")"
    fi
  fi
  chmod 755 "$tree"  # apt drops root to download
  cp /etc/resolv.conf "$tree/etc/resolv.conf"
  in_tree "$suite" "apt-get update -qq" >"$work/$suite.log" 2>&1 || skip "no package lists of $suite: $(tail -n 1 "$work/$suite.log")"
}

# shellcheck disable=SC2016  # expanded by the shells inside
in_tree() {  # SUITE COMMAND: as root inside it; the mounts end with the command
  unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --rbind /sys "$1/sys" &&
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} chroot "$1" /bin/sh -ec "$2"' \
    in_tree "$work/$1" "$2"
}

# shellcheck disable=SC2016  # run by sh -c here and inside the tree, with its variables set there
build_and_test='
  nice cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo $options >"$build.log" 2>&1 ||
    { tail -n 20 "$build.log"; exit 1; }
  grep "backend onednn: oneDNN $version" "$build.log"
  nice ninja -j"$jobs" -C "$build" $targets >"$build.log" 2>&1 || { tail -n 30 "$build.log"; exit 1; }
  for test in $targets; do
    "$build/tests/$test" --gtest_brief=1 || exit 1
  done'

failures=0

say "oneDNN 2.0 (Debian 11), built here"
make_tree bullseye
in_tree bullseye 'cd /tmp && apt-get download -qq libdnnl2 libdnnl-dev ocl-icd-libopencl1' >"$work/download.log" 2>&1 ||
  skip "the packages of oneDNN 2.0 cannot be fetched: $(tail -n 1 "$work/download.log")"
for package in "$work"/bullseye/tmp/*.deb; do dpkg -x "$package" "$work/onednn-2.0"; done
prefix=$work/onednn-2.0/usr
if source=$root build=$work/build-2.0 jobs=$jobs targets="${targets[*]}" version=2.0 \
    options="-DHBMARK_ONEDNN_ROOT=$prefix" sh -ec "$build_and_test"; then
  plugin=$work/build-2.0/stage/lib/hbmark/backends/hbmark_onednn.so
  # Found through the plugin alone, whatever the environment says; its OpenCL too.
  if LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu ldd "$plugin" | grep -E 'libdnnl|libOpenCL' | grep -vqF "$prefix"; then
    echo "FAILED: the plugin takes a library from outside $prefix"
    failures=1
  fi
  # 2.0 and 2.6 share a SONAME: another one must be refused by name, not used.
  other=$(find /usr/lib -name libdnnl.so.2 -print -quit)
  if [ -n "$other" ]; then
    said=$(LD_PRELOAD=$other "$work/build-2.0/tests/unit_plugins" --gtest_filter='Onednn.Records*' 2>&1 || true)
    if ! grep -q 'was built for oneDNN 2.0.* and the loader found' <<<"$said"; then
      echo "FAILED: a plugin built for 2.0 does not refuse $other:"
      echo "$said"
      failures=1
    fi
  fi
else
  echo "FAILED: oneDNN 2.0"
  failures=1
fi

say "oneDNN 3.7 (Debian 13), built there"
make_tree trixie
mkdir -p "$work/trixie/src/hbmark"
tar -C "$root" --exclude=./.git --exclude='./build*' -cf - . | tar -C "$work/trixie/src/hbmark" -xf -
# shellcheck disable=SC2016
in_tree trixie 'apt-get install -y -qq -o Dpkg::Options::=--force-unsafe-io --no-install-recommends $(/src/hbmark/bootstrap --list check)' >"$work/install.log" 2>&1 ||
  skip "the packages of Debian 13 cannot be installed: $(tail -n 1 "$work/install.log")"
in_tree trixie "source=/src/hbmark build=/src/build jobs=$jobs targets='${targets[*]}' version=3.7 options=; $build_and_test" || {
  echo "FAILED: oneDNN 3.7"
  failures=1
}

[ "$failures" = 0 ] && say "passed with oneDNN 2.0 and 3.7"
exit "$failures"
