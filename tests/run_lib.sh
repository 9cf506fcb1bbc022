# shellcheck shell=bash
# What the suites about runs share: source it behind lib.sh. Everything a run could touch is below $tmp: home, state, configuration, temporary files.
# $work is an empty work folder, where the suite stands.

# shellcheck disable=SC2034,SC2154 # tmp is lib.sh's; these are for the suites
work=$tmp/work
# shellcheck disable=SC2034
state=$tmp/state/cordon/runs
mkdir -p "$work" "$tmp/home" "$tmp/t" "$tmp/run" && chmod 700 "$tmp/run" || exit 99
export HOME=$tmp/home XDG_CONFIG_HOME=$tmp/config XDG_CACHE_HOME=$tmp/cache XDG_STATE_HOME=$tmp/state XDG_RUNTIME_DIR=$tmp/run TMPDIR=$tmp/t
unset BASH_ENV ENV CDPATH
cd "$work" || exit 99

if ! [ -x "$CORDON" ]; then
	echo "Bail out! there is no $CORDON: build first, or set CORDON"
	exit 99
fi

# policy <<EOF: the policy of the next runs, without its first line.
policy()
{
	{
		echo 'version: 1'
		cat
	} >"$tmp/policy.yaml"
}
policy <<'END'
filesystem: {workdir: read-write}
END

# inside CMD...: runs it; sets status, said (stdout) and told (stderr). `ok` has an out of its own.
inside()
{
	outside "$CORDON" run --policy "$tmp/policy.yaml" -- "$@"
}

# outside CMD...: the same for a command as it is.
outside()
{
	"$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	said=$(tr -d '\0' <"$tmp/out")
	told=$(tr -d '\0' <"$tmp/err")
}

# inside_says NAME WANT CMD...: it ends well and prints just that.
inside_says()
{
	inside "${@:3}" </dev/null
	is "$1" "$status:$said${told:+ (stderr: $told)}" "0:$2"
}

# inside_works NAME CMD...: it ends well.
inside_works()
{
	inside "${@:2}" </dev/null
	ok "$1" succeeded
}

# inside_fails NAME REGEX CMD...: it does not end well, and its stderr matches.
inside_fails()
{
	inside "${@:3}" </dev/null
	ok "$1" failed_with "$2"
}

succeeded()
{
	printf 'status %s\n%s\n%s\n' "$status" "$said" "$told"
	[ "$status" = 0 ]
}

failed_with()
{
	printf 'status %s\n%s\n%s\nwanted: %s\n' "$status" "$said" "$told" "$1"
	[ "$status" != 0 ] && [[ $told =~ $1 ]]
}

# refused STATUS REGEX: Cordon itself said no: that status, and one line behind "cordon: ".
refused()
{
	printf 'status %s\nout: %s\nerr: %s\nwanted: %s %s\n' "$status" "$said" "$told" "$1" "$2"
	[ "$status" = "$1" ] && [ "$(grep -c '' "$tmp/err")" = 1 ] && [[ $told =~ ^cordon:\ .*($2) ]]
}

# todo REASON ok|is|like NAME ...: a promise that is known not to hold yet.
todo()
{
	local failed=$tap_failed
	"${@:2}" >"$tmp/todo"
	sed -E "s/^(not )?ok [0-9]+ - .*/& # TODO ${1//\//\\/}/" "$tmp/todo"
	tap_failed=$failed
}

# runs: the ids of all runs, newest first.
runs()
{
	"$CORDON" ps --all --quiet
}

# until COMMAND...: waits for it to succeed, 5 s at most.
until_true()
{
	local i
	for ((i = 0; i < 100; i++)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.05
	done
	echo "waited in vain for: $*"
	return 1
}

# in_background CMD...: starts a run and waits until it is listed; sets pid (of the supervisor) and id.
in_background()
{
	local before
	before=$("$CORDON" ps --quiet | sort)
	# a shell lets what it starts in the background ignore SIGINT and SIGQUIT
	env --default-signal=INT,QUIT "$CORDON" run --policy "$tmp/policy.yaml" -- "$@" >"$tmp/bg.out" 2>"$tmp/bg.err" </dev/null &
	# shellcheck disable=SC2034
	pid=$!
	id=
	for ((i = 0; i < 100 && ${#id} != 8; i++)); do
		id=$(comm -13 <(printf '%s\n' "$before") <("$CORDON" ps --quiet | sort))
		[ -n "$id" ] || sleep 0.05
	done
}

# ended PID: sets status to that of a background run.
ended()
{
	wait "$1"
	status=$?
	said=$(cat "$tmp/bg.out")
	told=$(cat "$tmp/bg.err")
}

# events ID KIND: the lines of that kind in the run's log.
events()
{
	"$CORDON" logs --json "$1" | grep "\"event\":\"$2\""
}

is_root()
{
	[ "$(id -u)" = 0 ]
}

# Where Landlock seems to be missing, Cordon says so once to each user: now, so that no test hears it.
has_landlock()
{
	case ${CORDON_MISSING:-} in *landlock*) return 1 ;; esac
}
has_landlock || "$CORDON" run -- true 2>/dev/null

# A build with sanitizers needs /proc, and more room.
is_sanitized()
{
	ldd "$CORDON" 2>/dev/null | grep -q asan
}
