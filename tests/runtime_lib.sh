# shellcheck shell=bash
# For suites that run on any runtime, CORDON_RUNTIME: source it, and call need_runtime before anything else.

# need_runtime NAME SUITE ARG...: goes on where the runtime can be had. Where it cannot, the suite ends with its one test skipped, for a reason. Docker Engine is started for the suite, unless
# CORDON_DOCKER names the socket of one: then the suite is run again beside it.
need_runtime()
{
	local name=$1 program=${CORDON_RUNTIME:-native} folder why
	shift
	case $program in
	native) return ;;
	docker)
		[ -z "${CORDON_DOCKER:-}" ] || return 0
		exec "$(dirname "${BASH_SOURCE[0]}")/tools/with_engine.sh" "$name" "$@"
		;;
	gvisor) program=runsc ;;
	esac
	why="there is no $program here"
	for folder in /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin; do
		[ ! -x "$folder/$program" ] || why=
	done
	[ -n "$why" ] || [ "$(id -u)" = 0 ] || unshare -Ur true 2>/dev/null || why="ordinary users have no user namespaces here"
	[ -n "$why" ] || return 0
	printf 'ok 1 - %s on %s # SKIP %s\n1..1\n' "$name" "$CORDON_RUNTIME" "$why"
	exit 0
}
