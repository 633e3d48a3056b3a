#!/usr/bin/env bash
# Runs every command of README.md's `sh` blocks, in order. `hbmark` ones here, with a store of their own; of `make` ones only that the
# target exists (.ci/run runs them). usage: readme.sh README FOLDER_OF_HBMARK
set -euo pipefail
readme=$(realpath "$1") bin=$(realpath "$2") root=$(dirname "$(realpath "$1")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$bin:$PATH HBMARK_DB=$work/readme.db
cd "$work"
count=0
while IFS= read -r line; do
  case $line in
    make\ *) target=${line#make }; target=${target%% *}
      make -C "$root" -n "$target" >/dev/null || { echo "README: no such target: $line"; exit 1; }
      grep -qE "make $target( |$)" "$root/.ci/run" || { echo "README: .ci/run does not run: $line"; exit 1; } ;;
    hbmark\ *) echo "\$ $line"
      bash -c "$line" </dev/null >out 2>err || { echo "README: failed with $?: $line"; cat out err; exit 1; } ;;
    *) echo "README: neither hbmark nor make: $line"; exit 1 ;;
  esac
  count=$((count + 1))
done < <(awk '/^```sh$/ {on = 1; next} /^```/ {on = 0} on && NF' "$readme")
[ "$count" -ge 10 ] || { echo "README: only $count commands found"; exit 1; }
echo "README: $count commands, all true"
