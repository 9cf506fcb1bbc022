# shellcheck shell=bash
# TAP for bash suites: source this, call `ok`, `is`, `like` or `skip` once per promise, and `finish` at the end.
#
# A suite is an executable tests/FOLDER/NAME.sh. The runner (scripts/test.sh) and meson give it CORDON (the program under test) and
# CORDON_BUILD (the build folder); by hand they default to ./build. It must work as root and as an ordinary user, and may skip what the machine lacks.
# $tmp is a fresh folder of the suite's own that is removed when it ends.

tests_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CORDON_BUILD=${CORDON_BUILD:-$tests_dir/../build}
CORDON=${CORDON:-$CORDON_BUILD/cordon}
tap_n=0
tap_failed=0
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cordon-test.XXXXXX") || exit 99

tap_cleanup()
{
	rm -rf -- "$tmp"
}
trap tap_cleanup EXIT

# ok NAME COMMAND...: the command succeeds.
ok()
{
	local name=$1 out
	shift
	tap_n=$((tap_n + 1))
	if out=$("$@" 2>&1); then
		printf 'ok %d - %s\n' "$tap_n" "$name"
	else
		tap_failed=$((tap_failed + 1))
		printf 'not ok %d - %s\n' "$tap_n" "$name"
		printf '%s\n' "$out" | sed 's/^/# /'
	fi
}

# is NAME GOT WANT: two strings are the same.
is()
{
	ok "$1" tap_same "$2" "$3"
}

tap_same()
{
	[ "$1" = "$2" ] && return
	printf 'got:  %s\nwant: %s\n' "$1" "$2"
	return 1
}

# like NAME GOT REGEX: the extended regular expression matches within the string.
like()
{
	ok "$1" tap_matches "$2" "$3"
}

tap_matches()
{
	[[ $1 =~ $2 ]] && return
	printf 'got: %s\nwhich does not match: %s\n' "$1" "$2"
	return 1
}

# skip NAME REASON
skip()
{
	tap_n=$((tap_n + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_n" "$1" "$2"
}

finish()
{
	printf '1..%d\n' "$tap_n"
	[ "$tap_failed" = 0 ]
	exit
}

# What cannot be tried in containers with this build ends here.
need_static_init()
{
	if ldd "${CORDON%/*}/cordon-init" 2>/dev/null | grep -q '=>'; then
		skip "in containers" "cordon-init is not static here (sanitizers), and a container has no libraries for it"
		finish
	fi
}
