# shellcheck shell=bash
# Suites within a suite: others' TAP as part of ours, for each of several runtimes. Source it behind lib.sh and docker_lib.sh; suites_of RUNTIME, the caller's, names them as tests/FOLDER/NAME.sh without the ending.

# suite RUNTIME NAME: its TAP in a file.
suite()
{
	CORDON_RUNTIME=$1 timeout -k 10 "${suite_seconds:-400}" bash "$tests_dir/$2.sh" >"$tmp/$1-${2//\//-}" 2>&1 </dev/null
	echo "status $?" >>"$tmp/$1-${2//\//-}"
}

# tell RUNTIME NAME: that file as part of ours.
tell()
{
	local line said= label="$1, ${2##*/}"
	while IFS= read -r line; do
		case $line in
		'ok '*'# SKIP '*) skip "$label: $(sed -E 's/^ok [0-9]+ - (.*) # SKIP .*/\1/' <<<"$line")" "${line##*# SKIP }" ;;
		'ok '*) ok "$label: ${line#ok * - }" true ;;
		'not ok '*) tap_n=$((tap_n + 1)) tap_failed=$((tap_failed + 1)); echo "not ok $tap_n - $label: ${line#not ok * - }" ;;
		1..*) said=whole ;;
		'status '*) [ -n "$said" ] || ok "$label: the suite ends" false ;;
		*) printf '# %s\n' "${line#\# }" ;;
		esac
	done <"$tmp/$1-${2//\//-}"
}

# in_runtime WHAT RUNTIME: two suites at a time, since much of what they do is waiting.
in_runtime()
{
	local name why
	if ! why=$(cd "$tmp" && XDG_STATE_HOME=$tmp/state XDG_CACHE_HOME=$tmp/cache XDG_CONFIG_HOME=$tmp/config "$CORDON" run --runtime "$2" --workdir "$tmp/run" -- true 2>&1); then
		skip "$1 on $2" "$(tail -n 1 <<<"$why")"
		return
	fi
	for name in $(suites_of "$2"); do
		while [ "$(jobs -rp | wc -l)" -ge $((2 + (engine_pid > 0))) ]; do wait -n; done
		suite "$2" "$name" &
	done
	while [ "$(jobs -rp | wc -l)" -gt $((engine_pid > 0)) ]; do wait -n; done
	for name in $(suites_of "$2"); do tell "$2" "$name"; done
}

# in_runtimes WHAT RUNTIME...
in_runtimes()
{
	local what=$1 runtime
	shift
	export XDG_RUNTIME_DIR=$tmp/run
	mkdir -m 700 "$tmp/run"
	if ldd "$CORDON" 2>/dev/null | grep -q asan; then
		skip "$what on other runtimes" "with sanitizers cordon-init needs libraries; other jobs try it"
		return
	fi
	for runtime; do
		[ "$runtime" != docker ] || start_engine "$what on docker"
		in_runtime "$what" "$runtime"
	done
}
