#!/bin/bash
# A job that is stopped and continued goes on, and one that is ended ends as its command would, whatever a run was just doing: processes of Cordon's that leave the job stand still behind it, if a stop comes at that moment.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

signal_at=$CORDON_BUILD/tests/signal-at
trap 'timeout 60 "$CORDON" stop -t 0 --all 2>/dev/null; tap_cleanup' EXIT

# stops RUN...: once at each setsid() that the run makes; sets n, how many there were.
stops()
{
	for ((n = 0; n < 20; n++)); do
		outside timeout -k 5 60 "$signal_at" stop setsid $((n + 1)) "$@"
		[ "$status" != 98 ] || return 0
		[ "$status:$said" = 0:well ] || break
	done
	echo "at setsid() $((n + 1)): $status, $said, $told"
	return 1
}

ok "a run whose job is stopped while its first process leaves it, and is continued, goes on" stops "$CORDON" run --policy "$tmp/policy.yaml" -- echo well
for runtime in runc crun; do
	outside timeout 60 "$CORDON" run --runtime $runtime --policy "$tmp/policy.yaml" -- echo well
	if [ "$status" != 0 ]; then
		skip "$runtime: a run whose job is stopped while the runtime leaves it goes on" "${told##*$'\n'}"
		continue
	fi
	outside timeout -k 5 60 "$signal_at" stop setsid 1 "$CORDON" run --runtime $runtime --policy "$tmp/policy.yaml" -- echo well
	is "$runtime: a run whose job is stopped while the runtime leaves it goes on" "$status:$said:$told" 0:well:
done
ok "a sandbox that is to stay is made also where the job is stopped while its supervisor leaves it" stops "$CORDON" run --keep --policy "$tmp/policy.yaml" -- echo well
policy <<'END'
filesystem: {workdir: read-write}
network: {mode: allowlist, allow: [{host: example.com}]}
END
ok "... also while a gateway is started" stops "$CORDON" run --policy "$tmp/policy.yaml" -- echo well

# continued RUN...: over and over, from its first step on, until it ends
continued()
{
	outside timeout -k 5 60 bash -c '"$@" & run=$!; for ((i = 0; i < 2000; i++)); do kill -CONT $run 2>/dev/null || break; sleep 0.002; done; wait $run' - "$@"
	[ "$status:$said:$told" = 0:well: ] && return
	echo "$status, $said, $told"
	return 1
}
ok "... and so does one that is continued before its gateway stands" continued "$CORDON" run --policy "$tmp/policy.yaml" -- echo well

policy <<'END'
filesystem: {workdir: read-write}
END
inside true # so that the policy is in the cache, and the first pair of sockets is that of the sandbox
outside timeout -k 5 60 "$signal_at" term socketpair 1 "$CORDON" run --policy "$tmp/policy.yaml" -- sleep 30
is "a job that is ended when its sandbox is about to be made ends as its command does" "$status:$told" 143:
finish
