#!/usr/bin/env bash
# tests/fuzz/smoke.sh [SECONDS_PER_TARGET]: builds the fuzz targets, and only those, in build/fuzz and runs each for so long
# (20) from its seeds, always with the same random seed. One line a target; status 1 when one fails (its input and log stay in
# build/fuzz/failed), 77 when clang or libFuzzer is missing.
set -uo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-20}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "smoke.sh: '$seconds' is not a number of seconds" >&2; exit 2; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v clang++ clang >/dev/null || { echo "fuzz smoke: skipped: no clang++ (./bootstrap develop installs it)"; exit 77; }
echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' >"$scratch/probe.cpp"
if ! clang++ -fsanitize=fuzzer,address,undefined "$scratch/probe.cpp" -o "$scratch/probe" 2>"$scratch/probe.log"; then
  echo "fuzz smoke: skipped: clang++ cannot link libFuzzer (./bootstrap develop installs it): $(tail -n 1 "$scratch/probe.log")"
  exit 77
fi

build=build/fuzz
if ! { cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
         -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" -DHBMARK_FUZZ=ON -DHBMARK_SANITIZE=address,undefined &&
       cmake --build $build --target hbmark_fuzz_targets; } >"$scratch/build.log" 2>&1; then
  tail -n 40 "$scratch/build.log"
  echo "fuzz smoke: FAILED to build"
  exit 1
fi

rm -rf $build/failed
mkdir -p $build/failed
export TMPDIR=$scratch
targets=0 failed=0
for source in tests/fuzz/*.cpp; do
  name=$(basename "$source" .cpp)
  program=$build/tests/fuzz_$name
  targets=$((targets + 1))
  mkdir "$scratch/found_$name"
  # New inputs go to the first folder; the seeds stay as they are, so that every run starts alike.
  if "$program" -max_total_time="$seconds" -seed=1 -timeout=10 -print_final_stats=1 -artifact_prefix="$build/failed/$name-" \
       "$scratch/found_$name" "$build/tests/fuzz/corpus_$name" >"$scratch/$name.log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/$name.log")
    if [ "${runs:-0}" -gt 0 ]; then
      echo "fuzz_$name: passed: $runs inputs in $seconds s, $(find "$scratch/found_$name" -type f | wc -l) of them new paths"
      continue
    fi
  fi
  failed=$((failed + 1))
  cp "$scratch/$name.log" "$build/failed/$name.log"
  echo "fuzz_$name: FAILED: $(grep -m 1 -E 'ERROR|runtime error' "$scratch/$name.log" || tail -n 1 "$scratch/$name.log") ($build/failed/$name.log)"
done
echo "fuzz smoke: $((targets - failed)) of $targets targets passed"
[ $failed -eq 0 ]
