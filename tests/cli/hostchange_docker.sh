#!/bin/bash
# The same as hostchange_box.sh with a Docker Engine of the suite's own. An ordinary user cannot enter its containers: there a sandbox ends rather than show what is denied.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../docker_lib.sh"
. "$(dirname "$0")/../run_lib.sh"
. "$tests_dir/hostchange_lib.sh"
need_static_init
start_engine "the runtime docker"

host_changes docker

# A user of the engine's group, who may not enter what root's engine made.
user=$((RANDOM + 200000))
theirs=$tmp/theirs
mkdir -p "$theirs/home" "$theirs/work" "$theirs/run"
chmod 700 "$theirs/run"
cp "$tmp/policy.yaml" "$theirs/policy.yaml"
echo old >"$theirs/work/.env"
chown -R "$user:$user" "$theirs"
chmod 755 "$tmp"

as_user()
{
	(cd "$theirs/work" && exec env -i PATH="$PATH" HOME="$theirs/home" XDG_RUNTIME_DIR="$theirs/run" DOCKER_HOST="$DOCKER_HOST" \
		setpriv --reuid "$user" --regid "$user" --groups "$engine_group" -- "$CORDON" "$@")
}

ends_rather()
{
	: >"$tmp/got"
	as_user run --runtime docker --policy "$theirs/policy.yaml" -- sh -c 'echo up; sleep 60' >"$tmp/got" 2>"$tmp/told" </dev/null &
	run=$!
	until_true grep -q up "$tmp/got"
	"$1"
	wait "$run"
	status=$?
	cat "$tmp/told"
	[ "$status" = 125 ] && grep -q 'could not be hidden' "$tmp/told"
}

replaced_theirs()
{
	echo new >"$theirs/work/new" && mv "$theirs/work/new" "$theirs/work/.env"
}

made_theirs()
{
	mkdir -p "$theirs/work/new/deep" && echo new >"$theirs/work/new/deep/.env"
}

ok "an ordinary user's sandbox ends when the host replaces a denied file" ends_rather replaced_theirs
ok "... and when it makes one" ends_rather made_theirs
written()
{
	: >"$tmp/got"
	as_user run --runtime docker --policy "$theirs/policy.yaml" -- sh -c 'echo up; sleep 3; echo on' >"$tmp/got" 2>"$tmp/told" </dev/null &
	run=$!
	until_true grep -q up "$tmp/got"
	echo more >>"$theirs/work/.env"
	echo harmless >"$theirs/work/other"
	wait "$run" && grep -q on "$tmp/got"
}
ok "... and goes on when the host writes to it, or makes other files" written
finish
