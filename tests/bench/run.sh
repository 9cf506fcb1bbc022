#!/bin/bash
# run.sh [--json] [--only TABLE]... [BUILD_DIR]: measures Cordon beside other sandboxes and prints Markdown, or one JSON document.
#
# Tables: start, many, policy, rules, stage, work, gate, backends, task. As root and with BENCH_USER=NAME, everything is measured as that user too. BENCH_ROUNDS (200) and
# BENCH_MANY (1000) make it shorter or longer. Exit 1 when a bar was missed. Nothing is left behind.
set -u
here=$(cd "$(dirname "$0")" && pwd)
json=
only=
while [ $# -gt 0 ]; do
	case $1 in
	--json) json=1 ;;
	--only) only+=" $2" && shift ;;
	-*) echo "usage: run.sh [--json] [--only TABLE]... [BUILD_DIR]" >&2 && exit 2 ;;
	*) break ;;
	esac
	shift
done
build=${1:-${CORDON_BUILD:-$here/../../build}}
only=${only:-start many policy rules stage work gate backends task}

# All is copied to where another user can read it.
stage=$(mktemp -d "${TMPDIR:-/tmp}/cordon-bench.XXXXXX") || exit 2
# runsc, called directly, gives its standard input, output and error to another user, /dev/null too
null_was=$(stat -c %u:%g /dev/null)
# What a run keeps while it lives is in memory on a machine with an init (/run, /run/user/ID); where it is not, it is for the time of the measurement.
runtime=
[ "$(stat -f -c %T /dev/shm 2>/dev/null)" != tmpfs ] || { runtime=$(mktemp -d /dev/shm/cordon-bench.XXXXXX) && chmod 755 "$runtime"; } || exit 2
trap 'rm -rf -- "$stage" ${runtime:+"$runtime"}; [ "$(id -u)" != 0 ] || chown "$null_was" /dev/null' EXIT
chmod 755 "$stage"
mkdir "$stage/bin" "$stage/source" || exit 2
for f in cordon cordon-init cordon-{vault,relay,egress,unpack} tests/build-drive tests/bench/bench-{spawn,bare,rules,stage,load,events}; do
	cp "$build/$f" "$stage/bin/" || { echo "run.sh: build first: make" >&2 && exit 2; }
done
cp -r "$here" "$stage/bench" && cp -r "$here/../../examples/tasks/hello" "$stage/hello" && cp -r "$here/../../src/base" "$stage/source/base" || exit 2
chmod -R a+rX "$stage"
export BENCH_BIN=$stage/bin BENCH_SOURCE=$stage/source BENCH_ROUNDS=${BENCH_ROUNDS:-200}
[ -z "$json" ] || export BENCH_JSON=$stage/rows.json
: >"$stage/rows.json" && chmod 666 "$stage/rows.json"
missed=0

# Root's tables of starts see a machine of the usual kind: crun refuses a host with both kinds of cgroups as soon as the v2 tree has a controller, so that tree is hidden; and /run is in memory.
usual='[ ! -e /sys/fs/cgroup/unified/cgroup.controllers ] || umount -l /sys/fs/cgroup/unified
[ "$(stat -f -c %T /run)" = tmpfs ] || mount -t tmpfs -o mode=755 cordon-bench /run
exec "$@"'

# table NAME [USER]
table()
{
	local tmp=$stage/tmp as=() status
	rm -rf -- "$tmp"
	[ -z "$runtime" ] || rm -rf -- "$runtime/run"
	mkdir "$tmp" && mkdir -m 700 "${runtime:-$tmp}/run" || exit 2
	if [ -n "${2:-}" ] && [ "$1" = many ]; then
		export BENCH_MANY_AS=$2 # root measures, the user runs
	elif [ -n "${2:-}" ]; then
		chown "$2" "$tmp" "${runtime:-$tmp}/run"
		as=(runuser -u "$2" --)
	fi
	[ "$(id -u)" != 0 ] || case $1 in
	start | many | backends) as=(unshare -m sh -c "$usual" sh "${as[@]}") ;;
	esac
	BENCH_TMP=$tmp BENCH_RUNTIME=${runtime:-$tmp}/run "${as[@]}" "$stage/bench/$1.sh" </dev/null >"$stage/out.md"
	status=$?
	unset BENCH_MANY_AS
	[ $status = 0 ] || missed=1
	[ $status -lt 2 ] || echo "run.sh: the table $1 broke off with status $status" >&2
	[ -n "$json" ] || cat "$stage/out.md"
}

users=("")
[ "$(id -u)" != 0 ] || [ -z "${BENCH_USER:-}" ] || users+=("$BENCH_USER")
for user in "${users[@]}"; do
	for name in $only; do
		table "$name" "$user"
	done
done
if [ -n "$json" ]; then
	printf '{"version":1,"machine":{"kernel":"%s","cpus":%s},"missed":%s,"rows":[%s]}\n' "$(uname -r)" "$(nproc)" \
		"$([ $missed = 0 ] && echo false || echo true)" "$(paste -sd, "$stage/rows.json")"
else
	echo "Kernel $(uname -r), $(nproc) CPUs; medians, interleaved."
fi
exit $missed
