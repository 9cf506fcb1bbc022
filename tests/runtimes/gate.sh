#!/bin/bash
# gate.sh [RUNTIME]...: the gateway's suites in the sandboxes of every runtime but native (CORDON_RUNTIME, see gate_lib.sh): what a policy opens, and what it does not, is the same behind cordon-init's bridge.
# What is known to differ, and why, is in tests/gate/known.txt.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../docker_lib.sh"
export XDG_RUNTIME_DIR=$tmp/run
mkdir -m 700 "$tmp/run"

# Which suites: all on gVisor, which differs most; between them runc and crun, whose containers are alike, have all as well; an engine's containers are known for what is in these. The longest come first.
suites_of()
{
	case $1 in
	crun) echo faults reload attacks e2e ;;
	runc) echo clients e2e secrets ;;
	gvisor) echo clients faults reload attacks secrets e2e ;;
	docker) echo attacks secrets reload e2e ;;
	esac
}

# suite RUNTIME NAME: its TAP in a file.
suite()
{
	CORDON_RUNTIME=$1 timeout -k 10 400 bash "$tests_dir/gate/$2.sh" >"$tmp/$1-$2" 2>&1 </dev/null
	echo "status $?" >>"$tmp/$1-$2"
}

# tell RUNTIME NAME: that file as part of ours.
tell()
{
	local line said=
	while IFS= read -r line; do
		case $line in
		'ok '*'# SKIP '*) skip "$1, $2: $(sed -E 's/^ok [0-9]+ - (.*) # SKIP .*/\1/' <<<"$line")" "${line##*# SKIP }" ;;
		'ok '*) ok "$1, $2: ${line#ok * - }" true ;;
		'not ok '*) tap_n=$((tap_n + 1)) tap_failed=$((tap_failed + 1)); echo "not ok $tap_n - $1, $2: ${line#not ok * - }" ;;
		1..*) said=whole ;;
		'status '*) [ -n "$said" ] || ok "$1, $2: the suite ends" false ;;
		*) printf '# %s\n' "${line#\# }" ;;
		esac
	done <"$tmp/$1-$2"
}

in_runtime()
{
	local name why
	if ! why=$(cd "$tmp" && XDG_STATE_HOME=$tmp/state XDG_CACHE_HOME=$tmp/cache XDG_CONFIG_HOME=$tmp/config "$CORDON" run --runtime "$1" --workdir "$tmp/run" -- true 2>&1); then
		skip "the gateway's suites on $1" "$(tail -n 1 <<<"$why")"
		return
	fi
	# two at a time: much of what they do is waiting
	for name in $(suites_of "$1"); do
		while [ "$(jobs -rp | wc -l)" -ge $((2 + (engine_pid > 0))) ]; do wait -n; done
		suite "$1" "$name" &
	done
	while [ "$(jobs -rp | wc -l)" -gt $((engine_pid > 0)) ]; do wait -n; done
	for name in $(suites_of "$1"); do tell "$1" "$name"; done
}

if ldd "$CORDON" 2>/dev/null | grep -q asan; then
	skip "the gateway's suites on other runtimes" "with sanitizers cordon-init needs libraries; other jobs try it"
	finish
fi
[ $# -gt 0 ] || set -- crun runc gvisor docker
for runtime; do
	[ "$runtime" != docker ] || start_engine "the gateway's suites on docker"
	in_runtime "$runtime"
done
finish
