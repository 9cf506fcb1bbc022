#!/bin/bash
# matrix.sh [JOB...]: builds and tests everything that `make test` promises, or only the named jobs. The last line is "N passed, N failed, N skipped".
#
# CORDON_TEST_MINUTES (80 where CI is set): no job is begun that could take longer than what is left of these; what was left out counts as skipped, a line each.
#
# A job is a build, a user and, for some, a kernel that seems to lack system calls. Each job's results are printed as they come; a failed
# build counts as one failure.

set -u
cd "$(dirname "$0")/.." || exit 2
src=$PWD
user=cordon-test

# name | build folder | CC | meson options | as: self or user | missing system calls | suites: all, unit (programs of the build folder), gateway (those and the gateway's), sandbox
# (what a kernel's lack could change), tasks (benchmark tasks on the other runtimes), or runtimes (what a sandbox promises, on each of them) | minutes it may take on a slow machine
jobs_table()
{
	local sanitize='-Dstatic=false -Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debugoptimized -Dc_args=-fno-sanitize-recover=all'
	cat <<EOF
gcc-release|build|gcc||self||all|30
gcc-release-user|build|gcc||user||all|25
tasks|build|gcc||self||tasks|28
clang-release|build-clang|clang||self||gateway|10
clang-sanitized|build-clang-asan|clang|$sanitize|user||unit|8
no-landlock|build|gcc||user|landlock_create_ruleset,landlock_add_rule,landlock_restrict_self|sandbox|8
no-openat2|build|gcc||self|openat2|sandbox|8
no-clone3|build|gcc||self|clone3|sandbox|8
gcc-sanitized|build-asan|gcc|$sanitize|self||all|32
runtimes|build|gcc||self||runtimes|26
runtimes-user|build|gcc||user||runtimes|15
EOF
}

say()
{
	printf '\n== %s\n' "$*"
}

# build FOLDER CC OPTIONS
build()
{
	local log=$work/build.log
	# shellcheck disable=SC2086 # options are words
	if [ ! -f "$1/build.ninja" ]; then
		CC=$2 meson setup "$1" $3 >"$log" 2>&1 || { tail -n 30 "$log"; return 1; }
	fi
	ninja -C "$1" >"$log" 2>&1 || { grep -vE '^\[[0-9]+/[0-9]+\]' "$log" | tail -n 60; return 1; }
}

have_user()
{
	id "$user" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$user"
}

# The tree may be where an ordinary user cannot read; it gets a copy without objects.
copy_for_user()
{
	local to=$work/$1
	[ -d "$to" ] && rm -rf "$to"
	mkdir -p "$to/$1" && chmod 755 "$work" "$to"
	tar -C "$src" --exclude=./.git --exclude='./build*' -cf - . | tar -C "$to" -xf - &&
		tar -C "$src/$1" --exclude='*.p' --exclude='*.a' --exclude=./agents --exclude=meson-private --exclude=meson-logs -cf - . | tar -C "$to/$1" -xf - &&
		chown -R "$user" "$to"
}

# run_on NAME RUNTIME SUITE WORD...: a suite on a runtime; the words go before it.
run_on()
{
	"${@:4}" env CORDON_RUNTIME="$2" CORDON_TEST_TIMEOUT=1500 scripts/test.sh --label "$1 $2" "$build" "$PWD/tests/$3/run.sh" </dev/null
}

# run_runtimes NAME BUILD AS WORD...: attacks, most of whose time is that of starts, by two at a time; limits, which are about time, one by one. With root's help the attacks of an ordinary user have the
# controls that only root can try.
run_runtimes()
{
	local name=$1 build=$2 as=$3 attacks=(runc gvisor crun docker) limits=(runc crun gvisor docker) word=() status=0 i log=$work/runtime
	shift 3
	if [ "$as" = user ]; then
		attacks=(runc gvisor) limits=(runc gvisor)
		[ "$(id -u)" != 0 ] || word=(env "RUN_AS=$user")
	fi
	for ((i = 0; i < ${#attacks[@]}; i += 2)); do
		(cd "$src" && run_on "$name" "${attacks[i]}" escape "${word[@]}") >"$log" 2>&1 &
		(cd "$src" && run_on "$name" "${attacks[i + 1]}" escape "${word[@]}") || status=1
		wait $! || status=1
		cat "$log"
	done
	if [ "$as" = self ]; then
		CORDON_TEST_TIMEOUT=1500 scripts/test.sh --label "$name" "$build" "$PWD"/tests/runtimes/{compose,compose_up,faults,gate,kill_steps}.sh </dev/null || status=1
	fi
	for i in "${limits[@]}"; do
		run_on "$name" "$i" limits "$@" || status=1
	done
	return $status
}

# run_suites NAME BUILD AS MISSING SUITES
run_suites()
{
	local cmd=() where=$src suites=() status
	if [ "$3" = user ] && [ "$(id -u)" = 0 ]; then
		have_user && copy_for_user "$2" || return 1
		where=$work/$2
		cmd=(runuser -u "$user" -- env -i "PATH=$PATH" "HOME=$(getent passwd "$user" | cut -d: -f6)" "USER=$user" "LANG=C.UTF-8")
	fi
	[ -z "$4" ] || cmd+=("$where/$2/tests/enosys" "$4" --)
	case $5 in
	unit) suites=("$where/$2"/tests/test-* "$where/$2"/tests/replay-*) ;;
	gateway) suites=("$where/$2"/tests/test-* "$where/$2"/tests/replay-* "$where"/tests/gate/*.sh) ;;
	tasks) suites=("$where/tests/runtimes/tasks.sh") ;;
	sandbox) suites=("$where"/tests/cli/{run,deny,work,exec_rules,attacks,badinput,changes,doctor}.sh "$where/tests/escape/run.sh") ;;
	esac
	cd "$where" || return 1
	if [ "$5" = runtimes ]; then
		run_runtimes "$1" "$2" "$3" "${cmd[@]}"
		status=$?
		cd "$src" || return 1
		return $status
	fi
	[ "$5" != tasks ] || cmd+=(env CORDON_TEST_TIMEOUT=3000)
	"${cmd[@]}" env CORDON_MISSING="$4" UBSAN_OPTIONS=print_stacktrace=1 "$where/scripts/test.sh" --label "$1" "$where/$2" "${suites[@]}" </dev/null
	status=$?
	cd "$src" || return 1
	return $status
}

# Continuous integration may have a limit of its own, and must end with a result before it.
minutes=${CORDON_TEST_MINUTES:-${CI:+80}}
work=$(mktemp -d /var/tmp/cordon-matrix.XXXXXX) || exit 2
trap 'rm -rf "$work"' EXIT
results=$work/results
: >"$results"
chosen=" $* "
while IFS='|' read -r name folder cc options as missing suites takes; do
	[ $# = 0 ] || case $chosen in *" $name "*) ;; *) continue ;; esac
	if [ "$as" = user ] && [ "$(id -u)" != 0 ] && [ -z "$missing" ] && [[ $suites == all || $suites == runtimes ]]; then
		say "$name: not run again, this is an ordinary user already"
		continue
	fi
	if [ -n "$minutes" ] && [ $((SECONDS / 60 + takes)) -gt "$minutes" ]; then
		say "$name: not begun, it would take more than what is left of $minutes minutes (CORDON_TEST_MINUTES)"
		echo "$name: 0 passed, 0 failed, 1 skipped" | tee -a "$results"
		continue
	fi
	say "$name"
	if build "$folder" "$cc" "$options"; then
		run_suites "$name" "$folder" "$as" "$missing" "$suites" | tee -a "$results"
		[ "${PIPESTATUS[0]}" = 0 ] || grep -q "^${name}[ :].* passed, " "$results" || echo "$name: 0 passed, 1 failed, 0 skipped" | tee -a "$results"
	else
		echo "$name: 0 passed, 1 failed, 0 skipped (it does not build)" | tee -a "$results"
	fi
done < <(jobs_table)
say "all jobs"
# Whoever sees only the end of a long log should see what failed: the suite, its tests and, for a suite that died, its last word.
awk '/ passed +[0-9]+ failed +[0-9]+ skipped +[0-9]+s$/ { suite = ""; if (!/ 0 failed/) { suite = $0; sub(/ +[0-9]+ passed.*/, "", suite) } }
	/: a second try, because:$/ { suite = $0; sub(/: a second try.*/, ", first try", suite) }
	/^    \| (not ok|# the suite ended)/ && suite != "" { sub(/^    \| /, ""); print "failed: " suite ": " substr($0, 1, 200) }
	/it does not build/ { print "failed: " $0 }' "$results" | tail -n 30
awk -F': ' '/: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped/ { split($2, n, /[^0-9]+/); p += n[1]; f += n[2]; s += n[3]; jobs++ }
	END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || jobs == 0 }' "$results"
