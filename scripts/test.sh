#!/bin/bash
# test.sh [--label TEXT] BUILD_DIR [SUITE...]: runs the suites and counts their TAP.
#
# Without SUITE: all of them, that is the unit tests of the build folder (BUILD_DIR/tests/test-*), the fuzzers' corpora (BUILD_DIR/tests/replay-*) and
# every executable tests/*/*.sh but the benchmark, those in tests/runtimes, which take long and have a job of their own (scripts/matrix.sh), and the other kernels (tests/kernel/vm.sh).
# What a suite says beside its passed tests is shown only where something in it failed; skipped tests are listed with their reasons. The last line is
# "N passed, N failed, N skipped". A suite of real programs (*.sh; those in tests/runtimes are too long for it) that fails gets a second try, and
# that is said: a loaded machine is late with keys, clocks and races. A suite that dies, hangs (CORDON_TEST_TIMEOUT seconds, 900 unless told) or breaks its plan counts as one failure.

set -u
src=$(cd "$(dirname "$0")/.." && pwd)
label=
while [ $# -gt 0 ]; do
	case $1 in
	--label) label="$2: "; shift 2 ;;
	*) break ;;
	esac
done
[ $# -ge 1 ] || { echo "usage: test.sh [--label TEXT] BUILD_DIR [SUITE...]" >&2; exit 2; }
build=$(cd "$1" && pwd) || exit 2
shift
if [ $# -eq 0 ]; then
	shopt -s nullglob
	for f in "$build"/tests/test-* "$build"/tests/replay-* "$src"/tests/*.sh "$src"/tests/*/*.sh; do
		case $f in
		*/tests/lib.sh | */tests/bench/* | */tests/tools/* | */tests/runtimes/* | */tests/kernel/*) ;;
		*) [ -f "$f" ] && { [ -x "$f" ] || [ "$(head -c 2 "$f")" = '#!' ]; } && set -- "$@" "$f" ;; # a suite that somebody forgot to make executable fails; it is not left out
		esac
	done
fi
export CORDON_BUILD=$build CORDON=${CORDON:-$build/cordon}
passed=0 failed=0 skipped=0
out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT

# Adds up one suite's TAP; prints "passed failed skipped plan".
count()
{
	awk '
	/^ok .*# *[Ss][Kk][Ii][Pp]/ { skip++; next }
	/^not ok .*# *[Tt][Oo][Dd][Oo]/ { skip++; next }
	/^ok / { pass++; next }
	/^not ok / { fail++; next }
	/^1\.\.[0-9]+/ { split($1, a, "[.]+"); plan = a[2]; if (plan == 0) skip++ }
	END { printf "%d %d %d %s\n", pass, fail, skip, plan == "" ? -1 : plan }' "$out"
}

run_suite()
{
	local name=${1##*/} rc p f s plan started=$SECONDS try
	case $1 in */tests/*.sh) name=${1##*/tests/} ;; esac
	# Leaks are looked for where a whole life is in one process; the program itself ends by exiting.
	case $1 in *.sh) export ASAN_OPTIONS=detect_leaks=0 ;; *) export ASAN_OPTIONS=detect_leaks=1 ;; esac
	case $1 in */replay-*) set -- "$1" "$src/tests/fuzz/corpus/${1##*/replay-}" ;; esac
	for try in 1 2; do
		timeout -k 10 "${CORDON_TEST_TIMEOUT:-900}" "$@" >"$out" 2>&1 </dev/null
		rc=$?
		read -r p f s plan < <(count)
		if [ "$f" = 0 ] && { [ "$rc" != 0 ] || { [ "$plan" != 0 ] && [ "$plan" != $((p + f + s)) ]; }; }; then
			f=1
			echo "# the suite ended with status $rc after $((p + s)) of $plan tests" >>"$out"
		fi
		[[ $f != 0 && $try = 1 && $1 == *.sh && $1 != */tests/runtimes/* ]] || break
		printf '%s%s: a second try, because:\n' "$label" "$name"
		grep -v '^ok ' "$out" | sed 's/^/    | /'
	done
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%s%-32s %4d passed %3d failed %3d skipped %4ds\n' "$label" "$name" "$p" "$f" "$s" $((SECONDS - started))
	grep -i '^ok .*# *skip' "$out" | sed -E 's/^ok [0-9]+ -? ?/    skipped: /'
	[ "$f" = 0 ] || grep -v '^ok ' "$out" | sed 's/^/    | /'
}

for suite; do
	[ -d "$suite" ] || run_suite "$suite" # meson keeps objects in test-NAME.p/
done
printf '%s%d passed, %d failed, %d skipped\n' "$label" "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
