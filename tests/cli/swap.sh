#!/bin/bash
# Whoever may write above a folder that a sandbox is shown puts a link to a denied folder in the way, and takes it away again, while sandboxes start and end: none shows anything of the denied folder, and nothing is written there.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../docker_lib.sh"
. "$(dirname "$0")/../run_lib.sh"
need_static_init

race=$tmp/race
secret=$tmp/secret
mkdir -p "$race/a/sub/deep" "$secret/sub/deep"
echo mine | tee "$race/a/sub/f" "$race/a/sub/deep/f" >"$race/a/one"
echo SECRET | tee "$secret/sub/f" "$secret/sub/deep/f" >"$secret/one"
ln -s "$secret" "$race/link"
# and one in which nothing is hidden: what is looked for there is not found
mkdir -p "$race/a/sub/.hid" "$tmp/plain/sub/deep"
echo HIDDEN | tee "$race/a/sub/.hid/f" >"$race/a/sub/deep/.hid"
ln -s f "$tmp/plain/sub/deep/.hid"
ln -s "$tmp/plain" "$race/other"
chmod -R a+rX "$race" "$secret"

# swap AWAY_US HOME_US COMMAND...: with the folder above exchanged for the link `with` all the while.
with=link
swap()
{
	local swapper
	"$CORDON_BUILD/tests/swap" "$race/a" "$race/$with" "$1" "$2" &
	swapper=$!
	"${@:3}"
	kill "$swapper"
	wait "$swapper"
}

# starts N RUN...: the rhythm changes, so that every step of a start is hit at some time.
starts()
{
	local n=$1 i times=(300:900 1000:2000 3000:6000 15000:30000 60000:60000)
	for ((i = 0; i < ${#times[@]}; i++)); do
		swap "${times[i]%:*}" "${times[i]#*:}" several $((n / ${#times[@]})) "${@:2}"
	done >"$tmp/all" 2>&1
}

several()
{
	local i
	for ((i = 0; i < $1; i++)); do
		timeout 60 "${@:2}" </dev/null
	done
}

nothing_shown()
{
	! grep -nE 'SECRET|HIDDEN' "$tmp/all"
}

nothing_written()
{
	find "$secret" ! -type d ! -name f ! -name one | grep . && return 1
	[ "$(cat "$secret/sub/f" "$secret/sub/deep/f" "$secret/one" | sort -u)" = SECRET ]
}

# Else nothing was proven: each shows what is allowed, finds what is denied covered, or is refused.
they_ran()
{
	sort "$tmp/all" | uniq -c | sort -rn | head -n 20
	grep -qE 'mine|Permission denied|in its way|change' "$tmp/all"
}

# attack RUNTIME N
attack()
{
	local runtime=$1 n=$2
	cat >"$tmp/read.yaml" <<-END
		version: 1
		filesystem: {workdir: none, read: ["$race/a/sub", "$race/a/one"], deny: ["$secret", "$secret/**", "**/.hid"]}
	END
	cat >"$tmp/write.yaml" <<-END
		version: 1
		filesystem: {workdir: read-write, deny: ["$secret", "$secret/**"]}
	END
	starts "$n" "$CORDON" run --runtime "$runtime" --policy "$tmp/read.yaml" -- sh -c "cat $race/a/sub/f $race/a/sub/deep/f $race/a/one"
	ok "$runtime: folders and files to read: nothing of what is denied is shown in $n runs" nothing_shown
	ok "... which ran, or were refused" they_ran
	starts "$n" "$CORDON" run --runtime "$runtime" --policy "$tmp/write.yaml" --workdir "$race/a/sub" -- sh -c 'cat f deep/f; echo pwned >planted; echo pwned >deep/planted; echo pwned >>f'
	ok "$runtime: a work folder: nothing of what is denied is shown in $n runs" nothing_shown
	ok "... and nothing is written there" nothing_written
	ok "... and they ran, or were refused" they_ran
	with=other
	starts "$n" "$CORDON" run --runtime "$runtime" --policy "$tmp/read.yaml" -- sh -c "cat $race/a/sub/f $race/a/sub/.hid/f $race/a/sub/deep/.hid"
	ok "$runtime: nothing is shown that is hidden in a folder, and in the one behind the link not, in $n runs" nothing_shown
	with=link
	rm -rf "$secret/sub/planted" "$secret/sub/deep/planted"
	echo SECRET | tee "$secret/sub/f" "$secret/sub/deep/f" >/dev/null
	echo mine >"$race/a/sub/f"
	is "$runtime: when it is quiet, it is as it was" "$("$CORDON" run --runtime "$runtime" --policy "$tmp/read.yaml" -- sh -c "cat $race/a/sub/f $race/a/one" 2>/dev/null)" "mine
mine"
}

attack native 25
for runtime in runc crun gvisor; do
	"$CORDON" run --runtime $runtime --policy "$tmp/policy.yaml" -- true </dev/null >"$tmp/try" 2>&1 || {
		skip "$runtime" "$(tail -n 1 "$tmp/try")"
		continue
	}
	attack $runtime $([ $runtime = gvisor ] && echo 10 || echo 20)
done
start_engine "docker"
attack docker 10
finish
