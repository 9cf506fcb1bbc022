#!/bin/bash
# Tasks that try something (tests/tasks/hostile): each is refused by `task check` with the right words, or its cheat earns nothing while the honest solution earns its reward; and no secret of the host is anywhere in what comes out.
#
# A task's folder has a file `expect` beside what a task has:
#	needs root|user		who can make it
#	check accepted		or: check refused REGEX
#	oracle REWARD		of the task's own solution
#	cheat RESULT		of the commands in `cheat` as the agent: a reward; none: no score; no: no reward above 0, whatever the status
# `make`, where there is one, makes what git cannot keep. HOSTILE='NAME...' runs only these.
. "$(dirname "$0")/../lib.sh"
runtime=(${CORDON_RUNTIME:+--runtime "$CORDON_RUNTIME"})
tasks=$tests_dir/tasks/hostile
secrets=$tmp/secrets
export HOME=$tmp/home TMPDIR=$tmp/scratch XDG_DATA_HOME=$tmp/data XDG_STATE_HOME=$tmp/state XDG_CACHE_HOME=$tmp/cache XDG_CONFIG_HOME=$tmp/config
unset XDG_RUNTIME_DIR
mkdir -p "$HOME/.ssh" "$TMPDIR" "$secrets" "$XDG_CONFIG_HOME/cordon" "$tmp/out"

# Fake secrets where thieves look: variables, the home folder, beside the task.
secret=cordon-hostile-0f8fad5bd9cb469fa165
export AWS_SECRET_ACCESS_KEY=$secret FAKE_TOKEN=$secret OPENAI_API_KEY=$secret
echo "$secret" | tee "$HOME/.ssh/id_rsa" "$HOME/.env" "$secrets/id_rsa" "$tmp/.env" >/dev/null

# The secret as it is, base64 at each of three offsets, hexadecimal, reversed.
forms=("$secret" "$(rev <<<"$secret")" "$(printf %s "$secret" | od -An -tx1 | tr -d ' \n')")
for pad in "" x xx; do
	form=$(printf %s%s "$pad" "$secret" | base64 -w 0)
	forms+=("${form:4:36}")
done

# leaks FOLDER: names files with the secret, in whatever form; fails where there is none.
leaks()
{
	local args=() form
	for form in "${forms[@]}"; do
		args+=(-e "$form")
	done
	grep -rlFi "${args[@]}" "$1"
}

no_leaks()
{
	[ -d "$1" ] && ! leaks "$1"
}

# prepare NAME: a copy of the task as a stranger would have it; sets dir
prepare()
{
	dir=$tmp/tasks/$1
	mkdir -p "$tmp/tasks"
	rm -rf "$dir"
	cp -a "$tasks/$1" "$dir"
	if [ -x "$dir/make" ]; then
		(cd "$dir" && ./make "$secrets") || return
	fi
	rm -f "$dir/make" "$dir/expect" "$dir/cheat"
	chmod -R go-w "$dir"
}

check()
{
	local out status
	out=$("$CORDON" task check "$dir" 2>&1)
	status=$?
	case $2 in
	accepted) is "$1: accepted" "$status" 0 ;;
	refused)
		is "$1: refused" "$status" 1
		like "$1: ... with its place" "$out" "$3"
		;;
	esac
}

# run NAME WHO WANT [OPTION...] -- or --agent
run()
{
	local name=$1 who=$2 want=$3 out=$tmp/out/$1-${2##* } got
	shift 3
	rm -rf "$out"
	timeout 300 "$CORDON" task run "$dir" "${runtime[@]}" --out "$out" --json "$@" >"$tmp/result.json" 2>"$tmp/result.err" </dev/null
	got=$(python3 - "$tmp/result.json" "$want" <<'END' 2>/dev/null || tail -n 3 "$tmp/result.err"
import json, sys
r, want = json.load(open(sys.argv[1])), sys.argv[2]
reward = r["reward"]
if want == "no":
    print("no" if not reward else f"{r['status']} {reward}")
elif want == "none":
    print("none" if r["status"] == "verifier_error" and reward is None else f"{r['status']} {reward}")
else:
    print(f"{reward:g}" if r["status"] == "scored" else f"{r['status']} {r.get('reason')}")
END
	)
	is "$name: $who gets $want" "$got" "$want"
	cp "$tmp/result.json" "$tmp/result.err" "$out/" 2>/dev/null
	ok "$name: no secret in what $who leaves" no_leaks "$out"
}

who=user
[ "$(id -u)" != 0 ] || who=root
can_run=
if "$CORDON" task run --help >/dev/null 2>&1 && [ -e "$tests_dir/task_lib.sh" ]; then
	. "$tests_dir/task_lib.sh"
	task_images base python || { echo "Bail out! the images cannot be made"; exit 99; }
	can_run=1
fi

for name in ${HOSTILE:-$(ls "$tasks")}; do
	if ! prepare "$name"; then
		skip "$name" "it cannot be made here"
		continue
	fi
	# what is refused is refused before there is a runtime
	[ -z "${CORDON_RUNTIME:-}" ] || grep -q '^check accepted' "$tasks/$name/expect" || continue
	while read -r what rest; do
		case $what in
		needs)
			[ "$rest" = $who ] && continue
			skip "$name" "it needs to be made by $rest"
			break
			;;
		check) check "$name" "${rest%% *}" "${rest#* }" ;;
		oracle) [ -z "$can_run" ] || run "$name" oracle "$rest" --agent oracle ;;
		cheat) [ -z "$can_run" ] || run "$name" "the cheat" "$rest" -- sh -c "$(cat "$tasks/$name/cheat")" ;;
		esac
	done < <(grep -v '^#' "$tasks/$name/expect")
done
ok "nothing was written to the host" test ! -e /tmp/cordon-hostile-written
finish
