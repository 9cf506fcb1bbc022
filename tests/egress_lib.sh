# shellcheck shell=bash disable=SC2034
# For suites that drive cordon-egress itself (tools/egress_drive.c): everything happens in a network namespace of its own, in $tmp. Sourced first.
if [ -z "${EGRESS_INSIDE:-}" ]; then
	for how in -rmn -mn; do
		EGRESS_INSIDE=1 unshare $how true 2>/dev/null && EGRESS_INSIDE=1 exec unshare $how bash "$0" "$@"
	done
fi
. "$(dirname "$0")/../lib.sh"
if [ -z "${EGRESS_INSIDE:-}" ]; then
	skip "${0##*/}" "no namespace of our own here"
	finish
fi
egress=$CORDON_BUILD/cordon-egress
drive=$CORDON_BUILD/tests/egress-drive
here=$tests_dir/gate
cd "$tmp" || exit 99
pids=()
stop_servers()
{
	kill "${pids[@]}" 2>/dev/null
	tap_cleanup
}
trap stop_servers EXIT
ip link set lo up

# run POLICY ARGUMENT... <COMMANDS: the driver's output, in $out
run()
{
	local policy=$1
	shift
	out=$(timeout 120 "$drive" "$egress" "$policy" ca.pem "$@" 2>&1)
	grep -E 'Sanitizer|runtime error' <<<"$out" >>complaints
}
count()
{
	grep -c -- "$1" <<<"$out"
}
