#!/bin/bash
# What was tried against the gateway and worked once. Each way shown closed.
. "$(dirname "$0")/../gate_lib.sh"
start_upstream tunnel.test evil.test || finish

# The policy lies in the work folder, which the run may write, and is loaded anew when it changes.
cat >"$work/policy.yaml" <<'Y'
version: 1
extends: [default, ./base.yaml]
network:
  mode: allowlist
  allow: [{host: tunnel.test}]
Y
printf 'version: 1\n' >"$work/base.yaml"
cat >"$work/rewrite.sh" <<'S'
wider='version: 1
extends: [default]
network: {mode: allowlist, allow: [{host: tunnel.test}, {host: evil.test}]}'
echo "$wider" >policy.yaml
echo "$wider" >other.yaml && mv -f other.yaml policy.yaml
rm -f policy.yaml && echo "$wider" >policy.yaml
ln -f policy.yaml link.yaml && echo "$wider" >link.yaml
mkdir -p d && mv policy.yaml d/
echo "$wider" >base.yaml
python3 -c 'import os; os.truncate("policy.yaml", 0)'
sleep 1
curl -sS -m 5 http://evil.test/
S
before=$(cat "$work/policy.yaml" "$work/base.yaml")
(cd "$work" && "$CORDON" run -p policy.yaml --workdir "$work" -- bash rewrite.sh) >"$tmp/out" 2>&1
is "a workload cannot change the policy that it runs under" "$(cat "$work/policy.yaml" "$work/base.yaml")" "$before"
is "and reaches nothing by trying" "$(arrived)" "0"
like "its own request was refused" "$(cat "$tmp/out")" 'policy_denied'

if [ "$(id -u)" = 0 ]; then
	run "$work/policy.yaml" sleep 5 &
	job=$!
	for _ in $(seq 50); do pgrep -x cordon-relay >/dev/null && break; sleep 0.1; done
	sleep 0.5
	for role in relay egress vault; do
		pid=$(pgrep -x -o "cordon-$role" --ns $$ --nslist net 2>/dev/null || pgrep -x -o "cordon-$role")
		is "cordon-$role keeps no capability of root's" "$(awk '/CapEff|CapPrm/ {print $2}' "/proc/$pid/status" | sort -u)" "0000000000000000"
	done
	kill "$job"
	wait "$job" 2>/dev/null
else
	skip "the roles keep no capability of root's" "only root has any"
fi
finish
