#!/bin/bash
# Bind mounts that the host has: what is denied or protected is so by every name that a mount gives it, there or not.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

if ! unshare -m sh -c 'mount --bind "$1" "$1"' sh "$work" 2>/dev/null; then
	skip "bind mounts of the host" "this machine lets us make none"
	finish
fi

denied='Permission denied|Read-only|busy|not permitted'
# pairs of names, the second of which gets what the first is
mounts=()
# bound CMD...: runs it where the host has these mounts.
bound()
{
	# shellcheck disable=SC2016
	unshare -m bash -c 'n=$1; shift; while ((n--)); do mount --bind "$1" "$2" || exit 99; shift 2; done; exec "$@"' bash $((${#mounts[@]} / 2)) "${mounts[@]}" "$@"
}

# bound_run CMD...: the same in a sandbox; sets status, said and told.
bound_run()
{
	outside bound "$CORDON" run --policy "$tmp/policy.yaml" -- "$@" </dev/null
}

# kept NAME CMD...: it works on the host, and does not in the sandbox.
kept()
{
	outside bound "${@:2}" </dev/null
	ok "$1: the host can" succeeded
	bound_run "${@:2}"
	ok "$1: the sandbox cannot" failed_with "$denied"
}

own=$XDG_CONFIG_HOME/cordon
mkdir -p sub/folder/in sub/.git/hooks al one whole home top "$own/profiles" "$tmp/elsewhere/keys"
echo fake-secret-1 >sub/s
echo fake-secret-2 >sub/.env
echo fake-secret-3 >sub/folder/in/x
echo fake-secret-4 >"$tmp/elsewhere/keys/k"
printf 'version: 1\n' >"$own/credentials.yaml"
chmod 600 "$own/credentials.yaml"
echo plain >sub/plain
touch f f2
mounts=("$work/sub" "$work/al" "$work/sub/s" "$work/f" "$work/sub/.env" "$work/f2" "$work/sub/folder/in" "$work/one" "$tmp/elsewhere" "$work/whole" "$XDG_CONFIG_HOME" "$work/home" "$work/al" "$work/top")
policy <<END
filesystem: {workdir: read-write, deny: ["sub/s", "$work/sub/folder", "sub/later", "sub/not/yet", "al/there", "$tmp/elsewhere/keys"]}
END

kept "a file in a folder that is mounted a second time" cat al/s
kept "a mount of a mount" cat top/s
kept "a file that is mounted itself" cat f
kept "a file that a pattern finds anywhere" cat f2
kept "a part of a denied folder" cat one/x
kept "a folder that is not shown by its own name" cat whole/keys/k
kept "Cordon's own folder" cat home/cordon/credentials.yaml
kept "a name that is made inside" sh -c 'echo x >al/later; r=$?; rm -f al/later; exit $r'
kept "a name in Cordon's own folder" sh -c 'echo x >home/cordon/profiles/p; r=$?; rm -f home/cordon/profiles/p; exit $r'
kept "a folder that is made inside, and renamed" sh -c 'mkdir al/tmp al/tmp/yet && mv al/tmp al/not; r=$?; rm -rf al/tmp al/not; exit $r'
rm -rf sub/tmp
kept "the mount's name is the one that is denied" sh -c 'echo x >sub/there; r=$?; rm -f sub/there; exit $r'
bound_run cat sub/plain al/plain top/plain
is "what stands beside them is shown by all names" "$status:$said" "0:plain
plain
plain"
outside bound "$CORDON" why --policy "$tmp/policy.yaml" --path al/s
like "why says so" "$said" "^no: al/s may not be read.*filesystem.deny .*/sub/s, by $work/sub"
outside bound "$CORDON" why --policy "$tmp/policy.yaml" --path al/plain
like "why says what may be read" "$said" "^yes:"
outside bound "$CORDON" run --policy "$tmp/policy.yaml" --dry-run -- true
like "--dry-run has the name that it is denied by" "$said" "filesystem.deny \\*\\*/.env \\(built in\\), by $work/sub/.env"

# --- a user, and another runtime ---

if is_root && command -v setpriv >/dev/null; then
	mkdir -p "$tmp/user/home" "$tmp/user/work/sub" "$tmp/user/work/al" && echo fake-secret-5 >"$tmp/user/work/sub/s" && cp "$CORDON" "$tmp/user/" && chown -R 4242:4242 "$tmp/user" && chmod 711 "$tmp"
	# user CMD...: what a user sees of mounts that root made
	user()
	{
		outside unshare -m bash -c 'cd "$1/work" && mount --bind sub al && exec setpriv --reuid 4242 --regid 4242 --clear-groups env HOME="$1/home" XDG_CONFIG_HOME= XDG_STATE_HOME= XDG_CACHE_HOME= XDG_RUNTIME_DIR= TMPDIR=/tmp "${@:2}"' bash "$tmp/user" "$@" </dev/null
	}
	printf 'version: 1\nfilesystem: {workdir: read-write, deny: [sub/s]}\n' >"$tmp/user/policy.yaml"
	user cat al/s
	ok "an ordinary user: the host can" succeeded
	user "$tmp/user/cordon" run --policy "$tmp/user/policy.yaml" -- cat al/s
	ok "an ordinary user: the sandbox cannot" failed_with "$denied"
else
	skip "an ordinary user: the sandbox cannot" "only root can be one"
fi
if is_root && command -v crun >/dev/null; then
	for f in al/s f f2 one/x whole/keys/k; do
		outside bound "$CORDON" run --runtime crun --policy "$tmp/policy.yaml" -- cat "$f" </dev/null
		ok "crun: $f" failed_with "$denied"
	done
	outside bound "$CORDON" run --runtime crun --policy "$tmp/policy.yaml" -- cat al/plain </dev/null
	is "crun: what stands beside them" "$status:$said" "0:plain"
else
	skip "crun: al/s" "there is no crun, or it is not ours to use"
fi

# --- the work folder is the mount ---

outside bound sh -c 'cd "$1" && shift && exec "$@"' sh "$work/whole" "$CORDON" run --policy "$tmp/policy.yaml" -- cat keys/k </dev/null
ok "a work folder that is a mount of what holds a denied name" failed_with "$denied"
outside bound sh -c 'cd "$1" && shift && exec "$@"' sh "$work/one" "$CORDON" run --policy "$tmp/policy.yaml" -- cat x </dev/null
ok "a work folder that is a mount of a part of a denied folder is refused" refused 125 "work folder .*/one: denied by filesystem.deny .*/sub/folder"

# --- a copy of the work folder ---

mounts=("$work/sub" "$work/al" "$work/sub/s" "$work/f")
policy <<'END'
filesystem: {workdir: copy, deny: ["sub/s"]}
END
bound_run true
ok "a copy of the work folder, which has nothing of what is mounted in it, is refused where that holds a denied name" refused 125 "$work/al/.* is to be (hidden|protected) .*, or no copy, if that lies on a mount"
mounts=("$work/sub/s" "$work/f")
bound_run cat f
is "a copy of the work folder shows nothing of a file that is mounted in it" "$said" ""
finish
