#!/bin/bash
# What the table of `cordon policy parity` claims, tried on every runtime that works here: each promise is named after the key that makes it.
. "$(dirname "$0")/../lib.sh"
. "$tests_dir/run_lib.sh"
user=
[ "$(id -u)" = 0 ] && user=', user: 4321'

# on RUNTIME COMMAND: runs it with a shell.
on()
{
	outside timeout 60 "$CORDON" run --policy "$tmp/policy.yaml" --runtime "$1" -- sh -c "$2" </dev/null
}

# state RUNTIME KEY: what the table says.
state()
{
	"$CORDON" policy parity --json | python3 -c 'import json,sys
print([r[sys.argv[1]]["state"] for r in json.load(sys.stdin)["keys"] if r["key"] == sys.argv[2]][0])' "$1" "$2"
}

files()
{
	rm -rf "$work"/* && mkdir -p read && echo r >read/it && echo s >secret
	policy <<END
filesystem: {workdir: read-write, tmp_size: 8M, read: ["$work/read"], deny: ["**/secret"]}
END
	on "$1" 'cat secret 2>/dev/null; echo no >read/it; cat read/it; echo new >made'
	is "$1: filesystem.deny hides what exists, filesystem.read protects" "$said" r
	is "$1: filesystem.workdir: what is written comes back" "$(cat made)" new
	on "$1" 'mkdir -p d; echo x >d/secret'
	ok "$1: filesystem.deny: a name that is made inside never gets to the host" test ! -e d/secret
	on "$1" 'cd /tmp; i=0; while [ $i -lt 16 ]; do head -c 1000000 /dev/zero >f$i 2>/dev/null || break; i=$((i+1)); done; echo $i'
	ok "$1: filesystem.tmp_size" test "${said:-99}" -le 8 -a "${said:-0}" -ge 1
}

limits()
{
	policy <<<"process: {max_processes: 20, memory: 200M, timeout: 20s, max_file_size: 1M, env: {set: {A: b}, pass: [PARITY_PASSED]}}"
	PARITY_PASSED=passed PARITY_KEPT=kept on "$1" 'echo $A $PARITY_PASSED $PARITY_KEPT'
	is "$1: process.env.set and process.env.pass, and nothing else" "$said" "b passed"
	on "$1" 'head -c 3000000 /dev/zero >/tmp/x; wc -c </tmp/x'
	is "$1: process.max_file_size" "$said" 1048576
	on "$1" 'i=0; while [ $i -lt 60 ]; do sleep 15 & i=$((i+1)); done'
	# gVisor's kernel sometimes does not survive that
	like "$1: process.max_processes" "$told" "$([ "$1" = gvisor ] && echo 'fork|ended without a word|max_processes was reached' || echo fork)"
	on "$1" 'head -c 600000000 /dev/zero | tail -c 590000000 | wc -c'
	ok "$1: process.memory" test "${said:-0}" -lt 590000000
	policy <<<"process: {timeout: 1s}"
	on "$1" 'sleep 20'
	is "$1: process.timeout" "$status" 124
}

refusals()
{
	local key yaml
	while IFS='|' read -r key yaml; do
		policy <<<"$yaml"
		on "$1" 'echo ran'
		if [ "$(state "$1" "$key")" = refused ]; then
			is "$1: $key is refused" "$status|$said" "125|"
		elif [ "$1" != native ] && [ "$key" = process.user ] && [ "$1" = gvisor ] && [ -z "$user" ]; then
			is "$1: $key is refused to ordinary users" "$status|$said" "125|"
		else
			is "$1: $key is had" "$status|$said" "0|ran"
		fi
	done <<-'END'
		process.allow_exec|process: {allow_exec: [/usr/bin/sh, /usr/bin/dash, /bin/sh, /usr/bin/bash]}
		process.deny_exec|process: {deny_exec: [/usr/bin/env]}
		network.loopback|network: {loopback: false}
		process.user|process: {user: 4321}
		check|check: {scope-reduction: deny}
	END
}

network()
{
	local dial="import socket, sys
try: socket.create_connection((sys.argv[1], 80), 5); print(\"in\")
except OSError: print(\"refused\")"
	policy <<<'filesystem: {workdir: none}'
	on "$1" 'tail -n +3 /proc/net/dev | grep -vc " lo:\|^lo:"'
	is "$1: no interface but loopback" "$said" 0
	command -v /usr/bin/python3 >/dev/null || { skip "$1: dialling" "no python3"; return; }
	policy <<<'network: {mode: allowlist, allow: [{host: nosuch.example.test}]}'
	case $1 in
	gvisor | docker)
		on "$1" "/usr/bin/python3 -c '$dial' 192.0.2.1"
		is "$1: what is dialled without a proxy is refused at once" "$said" refused
		;;
	*)
		on "$1" "/usr/bin/python3 -c '$dial' nosuch.example.test"
		is "$1: what is dialled without a proxy gets to the gateway" "$said" in
		;;
	esac
}

for r in native gvisor runc crun docker; do
	if [ "$r" != native ]; then
		outside timeout 60 "$CORDON" doctor --runtime "$r" --json
		if [ "$status" != 0 ]; then
			skip "$r" "it does not work here: $(sed 's/.*"failed","value":"\([^"]*\)".*/\1/' <<<"$said" | tr '#' ' ')"
			continue
		fi
	fi
	files "$r"
	limits "$r"
	refusals "$r"
	network "$r"
done
finish
