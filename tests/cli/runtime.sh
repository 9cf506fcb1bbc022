#!/bin/bash
# Which runtime a run gets, what is said of it, and that one which does not work is never replaced in silence. Runtimes that are not installed are skipped; an engine that nobody can reach stands for one that is broken.
. "$(dirname "$0")/../lib.sh"
. "$tests_dir/run_lib.sh"
nobody=unix://$tmp/nobody.sock

# broken ARGS...: with Docker out of reach.
broken()
{
	outside env DOCKER_HOST="$nobody" "$CORDON" "$@"
}

broken run --runtime docker -- echo ran
is "a runtime that cannot be reached: nothing runs" "$status|$said" "125|"
like "and the line that would allow another is named" "$told" 'the runtime docker \(--runtime\) cannot be used here: .*nobody.sock.*fallback: \[native\]'
policy <<'END'
process: {fallback: []}
END
broken run --policy "$tmp/policy.yaml" --runtime docker -- echo ran
is "an empty fallback refuses as well" "$status|$said" "125|"

policy <<'END'
process: {categories: {terminal: docker}, fallback: [native]}
END
broken run --policy "$tmp/policy.yaml" --category terminal --json-events "$tmp/events" -- echo ran
is "a fallback runs" "$status|$said" "0|ran"
like "and is loud" "$told" 'cordon: FALLBACK: running on native \(process.fallback, [^)]*policy.yaml:2\) instead of docker: '
like "the first event has runtime, reason, category and what was wanted" "$(head -1 "$tmp/events")" \
	'"runtime":"native","runtime_reason":"process.fallback, [^"]*","category":"terminal","fallback_from":"docker"'
like "a fallback is an event of its own" "$(sed -n 2p "$tmp/events")" '"event":"note".*"verdict":"escalate","rule":"process.fallback".*FALLBACK: running on native'
rm -f "$tmp/events"
broken run --policy "$tmp/policy.yaml" --category web -- echo ran
is "another category is not concerned" "$status|$said|$told" "0|ran|"
broken run --policy "$tmp/policy.yaml" --category terminal --dry-run --json -- true
like "a dry run says which runtime and why" "$said" '"runtime":"native","runtime_reason":"process.fallback'

mkdir -p "$XDG_CONFIG_HOME/cordon"
printf 'version: 1\nprocess: {runtime: docker}\n' >"$XDG_CONFIG_HOME/cordon/policy.yaml"
broken run --runtime native -- echo ran
is "--runtime does not get past the ceiling" "$status|$said" "125|"
like "which is named" "$told" "^cordon: --runtime: native is not the ceiling's docker \([^)]*policy.yaml:2\); leave it out"
broken run --policy "$tmp/policy.yaml" -- echo ran
is "nor does a request's fallback" "$status|$said" "125|"
printf 'version: 1\nprocess: {runtime: docker, fallback: [native]}\n' >"$XDG_CONFIG_HOME/cordon/policy.yaml"
broken run --policy "$tmp/policy.yaml" -- echo ran
is "the ceiling's own does" "$status|$said" "0|ran"
rm "$XDG_CONFIG_HOME/cordon/policy.yaml"

policy <<'END'
process: {allow_exec: [/usr/bin/env], fallback: [native]}
END
outside "$CORDON" run --policy "$tmp/policy.yaml" --runtime gvisor -- echo ran
is "a key that the runtime cannot enforce is refused, whatever the fallback" "$status|$said" "125|"
like "with its place and what would do it" "$told" 'policy.yaml:2: process.allow_exec: gvisor cannot enforce it .*run native'

outside "$CORDON" policy parity
like "policy parity has every runtime" "$said" 'native +gvisor +runc +crun +docker'
outside "$CORDON" policy parity --json
ok "and is JSON" python3 -c 'import json,sys; d = json.loads(sys.argv[1]); assert len(d["keys"]) > 25 and all(r["native"]["state"] in ("enforced", "settled at load") for r in d["keys"] if r["key"] != "check")' "$said"
outside "$CORDON" policy explain --runtime runc
like "policy explain says what differs there" "$said" 'It runs under runc; where that does not work, it does not start'
like "and that folders which may be written are copies" "$said" 'a copy of the work folder, made at the start; its changes are brought back[[:space:]]+when the run ends'
is "and does not say the opposite as well" "$(grep -c 'real at once\|whenever they appear' <<<"$said")" 0
outside "$CORDON" policy explain --runtime native
like "native shows the folder itself" "$said" 'changes are real at once'
outside "$CORDON" doctor --runtime native
same=$said
outside "$CORDON" doctor
is "doctor --runtime native is what doctor looks at anyway" "$(grep -c . <<<"$same")" "$(grep -c . <<<"$said")"
outside "$CORDON" doctor --runtime auto
is "... and so is auto" "$(grep -c . <<<"$same")" "$(grep -c . <<<"$said")"
outside "$CORDON" doctor --runtime nosuch
is "... and another word is refused" "$status" 125
broken doctor --runtime docker --json
is "doctor --runtime exits 1 where it does not work" "$status" 1
like "and shows how far it came" "$said" '"name":"found","status":"failed".*"name":"container started","status":"not tried"'

ok "the documents have the table that the program has" "$tests_dir/../scripts/parity.sh" --check "$CORDON"

# each RUNTIME PROGRAM: where it is installed, it is tried with a container, the result is kept, and runs use it.
each()
{
	local r=$1
	if ! PATH=$PATH:/usr/sbin:/sbin command -v "$2" >/dev/null; then
		skip "$r" "$2 is not installed"
		return
	fi
	outside timeout 60 "$CORDON" doctor --runtime "$r" --json
	if [ "$status" != 0 ]; then
		skip "$r" "it does not work here: $(sed 's/.*"failed","value":"\([^"]*\)".*/\1/' <<<"$said")"
		return
	fi
	like "$r: all steps" "$said" '"ok":true.*"name":"door reachable","status":"ok".*"name":"cleaned up","status":"ok"'
	policy <<<'filesystem: {workdir: read-write}'
	outside timeout 60 "$CORDON" run --policy "$tmp/policy.yaml" --runtime "$r" -- sh -c 'echo ran; echo kept >made'
	is "$r: a command runs" "$status|$said" "0|ran"
	is "$r: what it wrote comes back" "$(cat made)" kept
	like "$r: what differs is said once" "$told" "note: on $r: filesystem.workdir: "
	outside timeout 60 "$CORDON" run --policy "$tmp/policy.yaml" --runtime "$r" -- sh -c 'rm made'
	is "$r: and not again" "$told" ""
	like "$r: ps has the runtime" "$("$CORDON" ps --all --json)" "\"runtime\":\"$r\""
	printf 'before\n' >"$tmp/file"
	timeout 60 "$CORDON" run --policy "$tmp/policy.yaml" --runtime "$r" -- sh -c 'echo out; echo err >&2' >>"$tmp/file" 2>&1 </dev/null
	is "$r: a file that is written to keeps what was in it" "$(sort "$tmp/file" | tr '\n' ' ')" "before err out "
	ok "$r: the check is kept for the next run" test -s "$XDG_CACHE_HOME/cordon/health-$r"
	[ "$r" != crun ] || return 0
	if is_sanitized; then
		skip "$r: one that was healthy and now starts nothing" "with sanitizers Cordon itself does not start with so few addresses"
		return
	fi
	# Go programs do not start with so few addresses
	policy <<<'process: {fallback: [native]}'
	outside bash -c 'ulimit -v 300000; exec "$@"' - "$CORDON" run --policy "$tmp/policy.yaml" --runtime "$r" -- echo ran
	is "$r: one that was healthy and now starts nothing is replaced by the fallback" "$status|$said" "0|ran"
	like "$r: ... and that is loud" "$told" "FALLBACK: running on native .* instead of $r: "
	rm -f "$XDG_CACHE_HOME/cordon/health-$r"
	outside "$CORDON" run --policy "$tmp/policy.yaml" --runtime "$r" -- true
	policy <<<'process: {fallback: []}'
	outside bash -c 'ulimit -v 300000; exec "$@"' - "$CORDON" run --keep --policy "$tmp/policy.yaml" --runtime "$r" -- echo ran
	is "$r: ... and without one it is refused" "$status|$said" "125|"
	rm -f "$XDG_CACHE_HOME/cordon/health-$r"
	policy <<<'filesystem: {workdir: read-write}'
}
each gvisor runsc
each runc runc
each crun crun
finish
