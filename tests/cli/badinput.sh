#!/bin/bash
# Bad input: one clear line behind "cordon: " with what, where and what to do, the right exit status, nothing left behind, nothing started half-way.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

# bad NAME STATUS REGEX COMMAND...: the line matches, and nothing was started or left.
bad()
{
	local name=$1 want=$2 regex=$3 runs_before procs limit=(timeout 20)
	shift 3
	rm -f started
	runs_before=$(find "$state" -mindepth 1 -maxdepth 1 2>/dev/null | sort)
	[ "$(type -t "$1")" = file ] || limit=()
	outside "${limit[@]}" "$@" </dev/null
	ok "$name" refused "$want" "$regex"
	procs=$(ls started 2>/dev/null; find "$tmp/t" "$tmp/run" -mindepth 1; comm -13 <(printf '%s\n' "$runs_before") <(find "$state" -mindepth 1 -maxdepth 1 2>/dev/null | sort))
	is "... and nothing was started or left ($name)" "$procs" ""
}
start=(-- touch started)

# --- the policy ---

p=$tmp/policy.yaml
: >"$p"
bad "policy: empty" 125 "policy.yaml" "$CORDON" run --policy "$p" "${start[@]}"
printf '   \n# only a comment\n' >"$p"
bad "policy: only a comment" 125 "policy.yaml" "$CORDON" run --policy "$p" "${start[@]}"
{ echo 'version: 1'; head -c 104857600 /dev/zero | tr '\0' '#'; } >"$p"
bad "policy: 100 MB" 125 "policy.yaml.*(large|big|than|at most)" "$CORDON" run --policy "$p" "${start[@]}"
printf 'version: 1\nfilesystem: {read: ["/\xff\xfe"]}\n' >"$p"
bad "policy: not UTF-8" 125 "policy.yaml" "$CORDON" run --policy "$p" "${start[@]}"
printf 'version: 1\n\0\n' >"$p"
bad "policy: a NUL" 125 "policy.yaml" "$CORDON" run --policy "$p" "${start[@]}"
{ printf 'version: 1\nfilesystem: '; head -c 200000 /dev/zero | tr '\0' '['; } >"$p"
bad "policy: deeply nested lists" 125 "policy.yaml:2" "$CORDON" run --policy "$p" "${start[@]}"
{ printf 'version: 1\nfilesystem: '; for ((i = 0; i < 5000; i++)); do printf '{a: '; done; } >"$p"
bad "policy: deeply nested mappings" 125 "policy.yaml:2" "$CORDON" run --policy "$p" "${start[@]}"
{
	echo 'a: &a ["x","x","x","x","x","x","x","x","x"]'
	last=a
	for c in b c d e f g h i; do
		echo "$c: &$c [*$last,*$last,*$last,*$last,*$last,*$last,*$last,*$last,*$last]"
		last=$c
	done
} >"$p"
bad "policy: an alias bomb" 125 "policy.yaml:1:" "$CORDON" run --policy "$p" "${start[@]}"
bad "policy: a folder" 125 "older" "$CORDON" run --policy "$tmp" "${start[@]}"
bad "policy: not there" 125 "none.yaml" "$CORDON" run --policy "$tmp/none.yaml" "${start[@]}"
bad "policy: /dev/zero" 125 "/dev/zero" "$CORDON" run --policy /dev/zero "${start[@]}"
mkfifo "$tmp/fifo"
bad "policy: a FIFO that nobody writes" 125 "fifo" "$CORDON" run --policy "$tmp/fifo" "${start[@]}"
printf 'version: 1\nprocess: {memry: 1G}\n' >"$p"
bad "policy: an unknown key has its place and a suggestion" 125 "policy.yaml:2:[0-9]+.*memry.*did you mean.*memory" "$CORDON" run --policy "$p" "${start[@]}"
printf 'version: 1\nversion: 1\n' >"$p"
bad "policy: a duplicate key" 125 "policy.yaml:2:" "$CORDON" run --policy "$p" "${start[@]}"
printf 'version: 99\n' >"$p"
bad "policy: another version" 125 "policy.yaml:1:.*version" "$CORDON" run --policy "$p" "${start[@]}"
printf 'version: 1\nextends: [nonesuch]\n' >"$p"
bad "policy: extends something that is not there" 125 "nonesuch" "$CORDON" run --policy "$p" "${start[@]}"
printf 'version: 1\nextends: [policy.yaml]\n' >"$p"
bad "policy: extends itself" 125 "policy.yaml" "$CORDON" run --policy "$p" "${start[@]}"
printf 'version: 1\nprocess: {user: 0}\n' >"$p"
bad "policy: user 0" 125 "process.user" "$CORDON" run --policy "$p" "${start[@]}"
printf 'version: 1\nfilesystem: {write: [/proc]}\n' >"$p"
bad "policy: /proc of the host" 125 "filesystem.write.*/proc" "$CORDON" run --policy "$p" "${start[@]}"
printf 'version: 1\nfilesystem: {write: [/]}\n' >"$p"
bad "policy: the whole host" 125 "filesystem.write" "$CORDON" run --policy "$p" "${start[@]}"
printf 'version: 1\nprocess: {runtime: docker}\n' >"$p"
bad "policy: a runtime that is not there" 125 "docker" env DOCKER_HOST=unix:///nonexistent/docker.sock "$CORDON" run --policy "$p" "${start[@]}"
bad "a profile that is not there" 125 "nonesuch" "$CORDON" run --profile nonesuch "${start[@]}"
bad "a profile with a path" 125 "passwd" "$CORDON" run --profile ../../etc/passwd "${start[@]}"
policy <<'END'
filesystem: {workdir: read-write}
END

# --- the command line ---

bad "an unknown option" 125 "frobnicate" "$CORDON" run --frobnicate "${start[@]}"
bad "an unknown verb" 125 "rnu.*did you mean" "$CORDON" rnu
bad "no command" 125 "no command" "$CORDON" run
bad "an unknown runtime" 125 "runtime" "$CORDON" run --runtime nonesuch "${start[@]}"
bad "an unknown category" 125 "category" "$CORDON" run --category nonesuch "${start[@]}"

# --- the command ---

notfound()
{
	outside "$CORDON" run -- "$2"
	ok "$1" refused "$3" "$4"
}
notfound "a command that does not exist" /no/such/thing 127 "/no/such/thing: not found"
notfound "a command that does not exist in PATH" no-such-thing 127 "no-such-thing: not found"
notfound "a command with terminal codes in its name is shown escaped" $'\e[2Jx' 127 'not found'
ok "... without the codes" sh -c '! grep -q "$(printf "\033")" "$1"' - "$tmp/err"
echo x >plain
notfound "a command that is not executable" ./plain 126 "cannot be executed"

# --- the work folder ---

bad "work folder: not there" 125 "none: there is none; make it, or name another with --workdir" "$CORDON" run --workdir "$tmp/none" "${start[@]}"
bad "work folder: a file" 125 "plain" "$CORDON" run --workdir plain "${start[@]}"
bad "work folder: the home folder" 125 "home" "$CORDON" run --workdir "$HOME" "${start[@]}"
bad "work folder: the root" 125 "workdir / " "$CORDON" run --workdir / "${start[@]}"
bad "work folder: Cordon's own state" 125 "state" "$CORDON" run --workdir "$tmp/state/cordon" "${start[@]}"
bad "home: the root" 125 "HOME is /, .*set HOME to a folder" env HOME=/ XDG_CACHE_HOME="$tmp/cache" "$CORDON" run "${start[@]}"
bad "home: the root, by another name" 125 "HOME is /, .*set HOME to a folder" env HOME=//usr/.. XDG_CACHE_HOME="$tmp/cache" XDG_DATA_HOME="$tmp/data" "$CORDON" run "${start[@]}"
: >"$tmp/a-file"
bad "state folder: below a file" 125 "state folder .*set that to a folder that you may write.*Not a directory" env XDG_STATE_HOME="$tmp/a-file" "$CORDON" run "${start[@]}"
mkdir "$tmp/vanishing"
cd "$tmp/vanishing" || exit 99
rmdir "$tmp/vanishing"
outside "$CORDON" run -- true
ok "work folder: the current one has vanished" refused 125 'folder'
cd "$work" || exit 99
mkdir "$tmp/goes"
in_goes()
{
	local p s
	(cd "$tmp/goes" && exec "$CORDON" run -- sh -c 'echo x >"$PWD/here"; while [ -e here ]; do sleep 0.05; done; exit 3') >"$tmp/out" 2>"$tmp/err" </dev/null &
	p=$!
	until_true test -s "$tmp/goes/here" || return 1
	rm -rf "$tmp/goes"
	wait "$p"
	s=$?
	echo "status $s: $(cat "$tmp/err")"
	[ "$s" = 3 ]
}
ok "work folder: it vanishes while the run goes on, which ends as the command says" in_goes
if ! is_root; then
	mkdir "$tmp/closed"
	chmod 0 "$tmp/closed"
	bad "work folder: no right to enter it" 125 "closed" "$CORDON" run --workdir "$tmp/closed" "${start[@]}"
	chmod 700 "$tmp/closed"
else
	skip "work folder: no right to enter it" "root may"
fi
policy <<'END'
filesystem: {workdir: copy}
END
gone_copy()
{
	mkdir "$tmp/copied" && echo a >"$tmp/copied/a"
	(cd "$tmp/copied" && "$CORDON" run --policy "$tmp/policy.yaml" -- sh -c 'echo b >b')
	id=$(runs | head -n 1)
	rm -rf "$tmp/copied"
	outside "$CORDON" apply "$id"
	refused 125 'copied'
}
ok "apply: its work folder has vanished" gone_copy

# --- state and log ---

mkdir "$tmp/ro"
no_state()
{
	bad "$1" 125 "$2" env XDG_STATE_HOME="$3" "$CORDON" run "${start[@]}"
}
: >"$tmp/file"
no_state "state folder: a file" "file" "$tmp/file"
mkdir -p "$tmp/open/cordon/runs"
chmod 777 "$tmp/open/cordon/runs"
no_state "state folder: open to others" "0700" "$tmp/open"
bad "state folder: none named" 125 "HOME" env -u XDG_STATE_HOME -u HOME "$CORDON" run --workdir "$work" "${start[@]}"
if is_root; then
	if mount -t tmpfs -o size=64k,nr_inodes=40 cordon-test "$tmp/ro" 2>/dev/null; then
		trap 'umount -l "$tmp/ro"; tap_cleanup' EXIT
		mkdir -p "$tmp/ro/cordon/runs"
		chmod 700 "$tmp/ro" "$tmp/ro/cordon" "$tmp/ro/cordon/runs"
		head -c 200000 /dev/zero >"$tmp/ro/full" 2>/dev/null
		no_state "state folder: the disk is full" "(space|full)" "$tmp/ro"
		like "state folder: the disk is full, and the line says where" "$(XDG_STATE_HOME=$tmp/ro "$CORDON" run -- true 2>&1)" "$tmp/ro"
		is "... and no run is left on it" "$(ls "$tmp/ro/cordon/runs")" ""
		rm "$tmp/ro/full"
		mount -o remount,ro "$tmp/ro"
		no_state "state folder: read-only" "$tmp/ro.*Read-only" "$tmp/ro"
	else
		skip "state folder: the disk is full" "no mount here"
	fi
else
	mkdir -p "$tmp/ro2/cordon/runs"
	chmod 700 "$tmp/ro2/cordon/runs"
	chmod 500 "$tmp/ro2/cordon/runs"
	no_state "state folder: not writable" "ro2.*Permission denied" "$tmp/ro2"
fi
limited()
{
	# The log may grow to 0 bytes: every write to it fails.
	# Not even stderr can be a file then.
	(
		set -o pipefail
		bash -c 'ulimit -f 0; trap "" XFSZ; exec "$@"' - "$CORDON" run "${start[@]}" 2>&1 >/dev/null | cat >&2
	)
}
bad "the log cannot be written: the run does not start" 125 "audit|too large|File" limited

# --- output ---

outside sh -c '"$1" run --dry-run -- true >/dev/full' - "$CORDON"
ok "Cordon's own output to a full disk is an error" refused 125 'space|output|write'
outside sh -c '"$1" ps >&-' - "$CORDON"
ok "Cordon's own output to a closed stdout is an error" refused 125 'output|descriptor|stdout'

# --- limits of the shell ---

outside sh -c 'ulimit -n 30; "$@"' - "$CORDON" run -- true
ok "a limit of open files that is too low is named" refused 125 'open files is 30.*ulimit -n'
if is_sanitized; then
	skip "a stack that is too small is named" "the sanitizers need more"
else
	outside sh -c 'ulimit -s 64; "$@"' - "$CORDON" run -- true
	ok "a stack that is too small is named" refused 125 'stack.*ulimit -s'
fi
# Through a pipe: a line in a file would be too large as well.
outside sh -c '{ (ulimit -f 0; "$@"; echo "exit $?") 2>&1 | cat; }' - "$CORDON" run -- true
like "a limit of file size that leaves no log is told, and kills nobody" "$said" "^cordon: .*File too large.exit 125$"

# --- /proc ---

# bare SCRIPT: in a mount namespace without /proc.
bare()
{
	if is_root; then
		unshare --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' - "$@"
	else
		unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' - "$@"
	fi
}
if is_sanitized; then
	skip "/proc is missing" "the sanitizers need one"
elif bare true 2>/dev/null; then
	bad "/proc is missing" 125 "" bare "$CORDON" run "${start[@]}"
	if is_root; then
		like "/proc is missing, and the line says so" "$told" "/proc"
		bad "/proc is missing, for a container" 125 "/proc is not mounted here" bare "$CORDON" run --runtime runc "${start[@]}"
	fi
else
	skip "/proc is missing" "no mount namespace here"
fi
finish
