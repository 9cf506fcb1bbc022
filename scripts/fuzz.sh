#!/bin/bash
# fuzz.sh SECONDS: builds the libFuzzer targets with clang and the sanitizers, and runs each (tests/fuzz-* of the build) for that long, from
# its corpus in tests/fuzz/corpus/NAME. What it finds is added to a scratch corpus, never to the tree; a crash is kept and named.

set -u
cd "$(dirname "$0")/.." || exit 2
seconds=${1:-60}
build="build-fuzz"
if [ ! -f "$build"/build.ninja ]; then
	CC=clang meson setup $build -Dfuzz=true -Dstatic=false -Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debugoptimized >/dev/null || exit 1
fi
ninja -C $build build.ninja >/dev/null || exit 1 # fuzzers that are new since the last time
mapfile -t targets < <(ninja -C $build -t targets all | sed -nE 's/^(tests\/fuzz-[A-Za-z0-9_-]+): .*/\1/p')
ninja -C $build "${targets[@]}" >$build/ninja.log || { grep -vE '^\[' $build/ninja.log; exit 1; }
failed=0 ran=0
# Undefined behaviour is a finding, not a remark in the log.
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
for target in "${targets[@]}"; do
	fuzzer=$build/$target
	name=${target##*/fuzz-}
	scratch=$build/corpus/$name
	mkdir -p "$scratch"
	corpus=()
	[ -d "tests/fuzz/corpus/$name" ] && corpus=("tests/fuzz/corpus/$name")
	printf '== %s, %s s\n' "$name" "$seconds"
	ran=$((ran + 1))
	if "$fuzzer" -max_total_time="$seconds" -artifact_prefix="$build/crash-$name-" -print_final_stats=1 "$scratch" "${corpus[@]}" >"$build/$name.log" 2>&1; then
		grep -E '^stat::(number_of_executed_units|average_exec_per_sec|new_units_added|peak_rss_mb)' "$build/$name.log"
	else
		failed=$((failed + 1))
		tail -n 60 "$build/$name.log"
	fi
done
printf '%d fuzzers, %d found something\n' "$ran" "$failed"
[ "$failed" = 0 ] && [ "$ran" -gt 0 ]
