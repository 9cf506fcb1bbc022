#!/bin/bash
# A job that is stopped and continued goes on, and one that is ended ends as its command would, whatever a run was just doing: processes of Cordon's that leave the job stand still behind it, if a stop comes at that moment.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

policy <<'END'
filesystem: {workdir: read-write}
network: {mode: allowlist, allow: [{host: example.com}]}
END

# continued RUN...: over and over, from its first step on, until it ends
continued()
{
	outside timeout -k 5 60 bash -c '"$@" & run=$!; for ((i = 0; i < 2000; i++)); do kill -CONT $run 2>/dev/null || break; sleep 0.002; done; wait $run' - "$@"
	[ "$status:$said:$told" = 0:done: ] && return
	echo "$status, $said, $told"
	return 1
}
ok "a run that is continued before its gateway stands goes on" continued "$CORDON" run --policy "$tmp/policy.yaml" -- echo done
finish
