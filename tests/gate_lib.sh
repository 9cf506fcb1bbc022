# shellcheck shell=bash
# For suites about the gateway: sourced instead of lib.sh. The suite runs again in a network namespace of its own, where real upstreams listen on loopback at the ports that they have in
# life; an ordinary user gets one by a user namespace, and keeps their id. The operator's files are in $config; requests that arrived upstream are in $up/log.
#
# CORDON_RUNTIME is the runtime whose sandboxes the suite tests (default: native); docker needs DOCKER_HOST. Promises that are known not to hold there are in gate/known.txt: they count as skipped, and fail where they
# hold after all.
gate_suite=$0
if [ -z "${GATE_NAMESPACE:-}" ]; then
	if [ "$(id -u)" = 0 ]; then
		GATE_NAMESPACE=1 exec unshare -n -- bash "$gate_suite" "$@"
	fi
	GATE_NAMESPACE=1 exec unshare --map-current-user --keep-caps -n -- bash "$gate_suite" "$@"
fi
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if ! ip link set lo up; then
	skip "the gateway's suite" "no network namespace of our own can be made here"
	finish
fi
runtime=${CORDON_RUNTIME:-native}
if [ "$runtime" != native ]; then
	# the suites' own command lines stay as they are; others that they start must find the programs beside it
	cordon_program=$CORDON
	CORDON=$tmp/cordon
	printf '#!/bin/bash\nif [ "$1" = run ]; then shift; exec "%s" run --runtime %s "$@"; fi\nexec "%s" "$@"\n' "$cordon_program" "$runtime" "$cordon_program" >"$CORDON"
	chmod 755 "$CORDON"
fi
cordon_program=${cordon_program:-$CORDON}
# shellcheck disable=SC2034
case $runtime in gvisor | docker) direct=none ;; *) direct=any ;; esac # whether what is dialled without a proxy arrives
up=$tmp/up
config=$tmp/config/cordon
work=$tmp/work
mkdir -p "$up" "$config" "$work" "$tmp/state" "$tmp/cache" "$tmp/home"
export XDG_CONFIG_HOME=$tmp/config XDG_STATE_HOME=$tmp/state XDG_CACHE_HOME=$tmp/cache HOME=$tmp/home
upstream_pid=
helpers=()
# What differs from native is said once to each user: now, so that no test hears it.
[ "$runtime" = native ] || (cd "$work" && "$CORDON" run -- true) 2>"$tmp/notes" || sed 's/^/# /' "$tmp/notes"

gate_done()
{
	# shellcheck disable=SC2086 # it may be none
	kill $upstream_pid "${helpers[@]}" 2>/dev/null
	wait 2>/dev/null
	tap_cleanup
}
trap gate_done EXIT

# make_certificates NAME...: a CA of the test's own, and one certificate for all names.
make_certificates()
{
	local names
	names=$(printf 'DNS:%s,' "$@")
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=test upstream CA" -keyout "$up/ca.key" -out "$up/ca.pem" 2>/dev/null
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=upstream" -keyout "$up/server.key" -out "$up/server.csr" 2>/dev/null
	openssl x509 -req -in "$up/server.csr" -CA "$up/ca.pem" -CAkey "$up/ca.key" -CAcreateserial -days 2 -extfile <(echo "subjectAltName=${names%,}") -out "$up/server.pem" 2>/dev/null
}

# start_upstream NAME...: these names lead to it, on ports 80 and 443.
start_upstream()
{
	local name
	make_certificates "$@"
	{
		echo "version: 1"
		echo "ca_file: $up/ca.pem"
		echo "resolve:"
		for name; do echo "  \"$name\": [\"127.0.0.1\"]"; done
	} >"$config/gateway.yaml"
	: >"$up/log"
	python3 "$tests_dir/gate/origin.py" "$up" 127.0.0.1 80 443 &
	upstream_pid=$!
	for _ in $(seq 100); do [ -e "$up/ready" ] && return 0; sleep 0.05; done
	echo "# the upstream did not start"
	return 1
}

# lead ADDRESS NAME...: these names lead there, behind start_upstream.
lead()
{
	local address=$1 name
	shift
	for name; do echo "  \"$name\": [\"$address\"]"; done >>"$config/gateway.yaml"
}

# helper READY COMMAND...: runs it until the suite ends; it serves when READY is there: a file, or ADDRESS:PORT.
helper()
{
	local ready=$1
	shift
	"$@" &
	helpers+=($!)
	for _ in $(seq 100); do
		case $ready in
		*/*) [ -e "$ready" ] && return 0 ;;
		*) (exec 3<>"/dev/tcp/${ready%:*}/${ready#*:}") 2>/dev/null && return 0 ;;
		esac
		sleep 0.05
	done
	echo "# did not start: $*"
	return 1
}

# until_true COMMAND...: waits for it, 5 s at most.
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

# todo REASON ok|is|like NAME ...: a promise that is known not to hold yet.
todo()
{
	local failed=$tap_failed
	"${@:2}" >"$tmp/todo"
	sed -E "s/^(not )?ok [0-9]+ - .*/& # TODO ${1//\//\\/}/" "$tmp/todo"
	tap_failed=$failed
}

# Sanitizers need system calls that no filter would leave, and terabytes of shadow memory.
is_sanitized() { ldd "$cordon_program" 2>/dev/null | grep -q asan; }

# ok of lib.sh, but for what is known to differ on this runtime: one line of known.txt is a runtime, a suite and a promise (both may have wildcards), and a reason, with tabs between.
eval "$(declare -f ok | sed '1s/^ok/ok_plain/')"
ok()
{
	local of suite promise reason
	[ "$runtime" = native ] || while IFS=$'\t' read -r of suite promise reason; do
		# shellcheck disable=SC2053 # patterns
		[[ $runtime == ${of%\?} && ${gate_suite##*/} == $suite && $1 == $promise ]] || continue
		if [[ $of != *\? ]] && "${@:2}" >/dev/null 2>&1; then
			ok_plain "$1" tap_same holds "holds not on $runtime ($reason), as known.txt says"
			return
		fi
		skip "$1" "$runtime: $reason"
		return
	done <"$tests_dir/gate/known.txt"
	ok_plain "$@"
}

# audit: the log of the newest run.
audit() { find "$tmp/state" -name audit.jsonl -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2; }

arrived() { wc -l <"$up/log"; }
forget() { : >"$up/log"; }

# run POLICY_FILE CMD...: in the sandbox.
run()
{
	local policy=$1
	shift
	"$CORDON" run -p "$policy" --workdir "$work" -- "$@"
}
