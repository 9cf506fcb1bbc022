#!/bin/bash
# Two sandboxes in nested folders: what one renames while the other works in it, or in a folder below, becomes no name
# that programs outside obey, whoever comes first; nor does what the host renames.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

sandbox=("$CORDON" run --policy "$tmp/policy.yaml" --)

# What programs outside obey, if only the folder has the right name; and a file that nobody minds.
cat >"$tmp/write.sh" <<'END'
mkdir -p git hooks nvim x
for f in config pre-commit settings.json env config.toml git/config hooks/pre-commit nvim/init.lua x/config; do
	echo EVIL >"$f"
	echo EVIL >"$f.new" && mv "$f.new" "$f"
	echo EVIL >"$f.new" && ln "$f.new" "$f"
	ln -s /dev/null "$f"
	rm -f "$f.new"
done
echo fine >plain
END
# A script that does so when it is told, by a file in the folder where it stands.
cat >"$tmp/late.sh" <<END
: >ready
for i in \$(seq 400); do [ ! -e go ] || break; sleep 0.02; done
$(cat "$tmp/write.sh")
echo done
END

planted()
{
	find "$1" -maxdepth 0 | grep -q . && [ -s "$1" ]
}

# renamed WORD... @ BELOW MOVE NAME...: the second run starts in BELOW and waits; the first does MOVE in the folder
# above, or is refused; then the second writes. None of the names may be there (in the words' sandbox; with none: all
# are).
renamed()
{
	local as=() second name script wrong=0
	while [ "$1" != @ ]; do as+=("$1"); shift; done
	local below=$2 move=$3
	shift 3
	rm -rf "$work" && mkdir -p "$work/$below" && cd "$work" || return 1
	script=$(cat "$tmp/late.sh")
	(cd "$below" && exec "${as[@]}" sh -c "$script" >"$tmp/second" 2>&1) &
	second=$!
	until_true test -e "$below/ready" || wrong=1
	rm -f "$below/ready"
	"${first[@]}" sh -c "$move" || [ "${#first[@]}" != 0 ] || wrong=1
	find . -type d -empty -exec touch {}/go \;
	wait "$second"
	grep -v 'File exists$' "$tmp/second"
	find . -type f | head -n 30
	grep -qx "done" "$tmp/second" || wrong=1
	for name in "$@"; do
		if [ "${#as[@]}" = 0 ]; then planted "$name" || wrong=1; elif planted "$name"; then wrong=1; fi
	done
	return "$wrong"
}

# both NAME BELOW MOVE NAME...: with the one that renames in a sandbox, as the host's user, and (control) without any
# sandbox.
both()
{
	first=("${sandbox[@]}")
	ok "$1: one sandbox renames the other's folder" renamed "${sandbox[@]}" @ "${@:2}"
	first=()
	ok "$1: the host does" renamed "${sandbox[@]}" @ "${@:2}"
	ok "$1: without a sandbox it is written (control)" renamed @ "${@:2}"
}

both ".git" sub 'mv sub .git' .git/config .git/hooks/pre-commit
both ".git/hooks" sub 'mkdir .git; mv sub .git/hooks' .git/hooks/pre-commit
both ".git, above the other's folder" a/hooks 'mv a .git' .git/hooks/pre-commit
both ".git, two steps above it" a/modules/sub 'mv a .git' .git/modules/sub/config
both ".git, in two steps" a/sub 'mv a/sub a/hooks; mv a .git' .git/hooks/pre-commit
exchange='python3 -c "import ctypes; exit(ctypes.CDLL(None).renameat2(-100, b\"sub\", -100, b\".git\", 2))"'
both ".git, in exchange" sub "mkdir .git; $exchange" .git/config
both ".config" sub 'mv sub .config' .config/git/config .config/nvim/init.lua
both ".config/git" sub 'mkdir .config; mv sub .config/git' .config/git/config
both ".claude" sub 'mv sub .claude' .claude/settings.json .claude/hooks/pre-commit
both ".cargo" sub 'mv sub .cargo' .cargo/env
both ".codex" sub 'mv sub .codex' .codex/config.toml
both ".github/hooks" sub 'mkdir .github; mv sub .github/hooks' .github/hooks/pre-commit

# A folder that was moved, and to which nobody gives such a name, can be written to as before.
moved_elsewhere()
{
	first=("${sandbox[@]}")
	renamed "${sandbox[@]}" @ sub 'mv sub other; mkdir sub' || return 1
	[ "$(cat other/config other/hooks/pre-commit other/git/config)" = "$(printf 'EVIL\nEVIL\nEVIL')" ]
}
ok "a folder that is called something harmless now is worked in as before" moved_elsewhere

# A folder that policies list, in place of a work folder.
cat >"$tmp/listed.yaml" <<END
version: 1
filesystem: {workdir: none, write: ["$work/sub"]}
END
first=("${sandbox[@]}")
ok "a folder that is listed as writable" renamed "$CORDON" run --policy "$tmp/listed.yaml" -- env -C "$work/sub" @ \
	sub 'mv sub .git' .git/config .git/hooks/pre-commit

# A kept sandbox, in which a command starts afterwards.
kept()
{
	local id
	rm -rf "$work" && mkdir -p "$work/sub" && cd "$work/sub" || return 1
	"$CORDON" run --keep --policy "$tmp/policy.yaml" -- true || return 1
	id=$("$CORDON" ps --quiet | head -n 1)
	cd "$work" && "${sandbox[@]}" mv sub .git
	"$CORDON" exec "$id" -- sh -c "$(cat "$tmp/write.sh")"
	"$CORDON" stop "$id"
	[ "$(cat .git/plain)" = fine ] && ! planted .git/config && ! planted .git/hooks/pre-commit
}
ok "a kept sandbox, and a command that starts in it afterwards" kept

# What was written first, under a harmless name, keeps the folder from getting the other.
written_first()
{
	rm -rf "$work" && mkdir -p "$work/sub" && cd "$work" || return 1
	(cd sub && "${sandbox[@]}" sh -c "$(cat "$tmp/write.sh")")
	[ -s sub/config ] || return 1
	"${sandbox[@]}" sh -c 'mv sub .git; mkdir a; mv sub a/modules; mv a .git'
	! planted .git/config && ! planted .git/modules/config
}
ok "what was written before keeps the folder from getting such a name" written_first

# Both at once, again and again: whatever stands under the name when the renaming has succeeded was to stand there.
cat >"$tmp/writer.sh" <<'END'
: >ready
for i in $(seq 4000); do
	[ -e ready ] || break
	echo EVIL >config && sleep 0.002
	mkdir hooks && echo EVIL >hooks/pre-commit && sleep 0.002
	echo EVIL >new && mv new config && sleep 0.002
	rm -rf hooks config new
done 2>/dev/null
END
# shellcheck disable=SC2016
mover='
n=0
for i in $(seq $0); do
	mv -T sub .git 2>/dev/null || continue
	n=$((n + 1))
	for k in 1 2 3 4 5; do
		[ ! -s .git/config ] || echo BAD
		[ ! -s .git/hooks/pre-commit ] || echo BAD
	done
	for k in $(seq 100); do
		mv -T .git sub 2>/dev/null && break
	done
done
echo $n
'
at_once()
{
	local second said
	rm -rf "$work" && mkdir -p "$work/sub" && cd "$work" || return 1
	(cd sub && exec "$@" sh "$tmp/writer.sh") &
	second=$!
	until_true test -e sub/ready || return 1
	said=$("$@" sh -c "$mover" "$rounds")
	rm -f sub/ready .git/ready
	wait "$second"
	echo "$said" | sort | uniq -c | sort -rn | head -n 3
	[ "$(tail -n 1 <<<"$said")" -gt 0 ] && ! grep -q BAD <<<"$said"
}
rounds=400
cat >"$tmp/policy.yaml" <<END
version: 1
filesystem: {workdir: read-write, read: ["$tmp/writer.sh"]}
END
ok "both at the same time, again and again" at_once "${sandbox[@]}"
rounds=50
not_at_once() { ! at_once "$@"; }
ok "... which without a sandbox ends badly (control)" not_at_once
policy <<'END'
filesystem: {workdir: read-write}
END

# A folder that a command stands in, or holds open, is moved out of its work folder: what it makes there is judged by
# where that is, not by a name of the sandbox's own.
out_of_it()
{
	local second
	rm -rf "$work" && mkdir -p "$work/sub/d" && cd "$work" || return 1
	(cd sub && exec "$@" sh -c "cd d && $(cat "$tmp/late.sh")" >"$tmp/second" 2>&1) &
	second=$!
	until_true test -e sub/d/ready || return 1
	rm -f sub/d/ready
	"$@" mv sub/d .git || return 1
	touch .git/go
	wait "$second"
	grep -v 'File exists$' "$tmp/second"
	planted .git/config || planted .git/hooks/pre-commit
}
not_out_of_it() { ! out_of_it "$@"; }
ok "a folder in which a command stands is moved out of what is shown" not_out_of_it "${sandbox[@]}"
ok "... which is written to without a sandbox (control)" out_of_it

# A part of the folder is a mount of what the other works in, under another name.
through_a_mount()
{
	local second
	rm -rf "$work" "$tmp/there" && mkdir -p "$work/in/sub" "$tmp/there/mnt" && cd "$work" || return 1
	mount --bind "$work/in/sub" "$tmp/there/mnt" || return 1
	(cd "$tmp/there" && exec "$@" sh -c "cd mnt && $(cat "$tmp/late.sh")" >"$tmp/second" 2>&1) &
	second=$!
	until_true test -e in/sub/ready
	rm -f in/sub/ready
	(cd in && "$@" mv sub .git)
	touch in/.git/go
	wait "$second"
	umount "$tmp/there/mnt"
	grep -v 'File exists$' "$tmp/second"
	planted in/.git/config || planted in/.git/hooks/pre-commit
}
not_through_a_mount() { ! through_a_mount "$@"; }
# Or something else is mounted in the folder that is renamed.
with_a_mount()
{
	local second planted
	rm -rf "$work" && mkdir -p "$work/sub/x" "$work/.git" && cd "$work" || return 1
	mount -t tmpfs -o mode=0777 tmpfs "$work/sub/x" || return 1
	(cd sub && exec "$@" sh -c "$(cat "$tmp/late.sh")" >"$tmp/second" 2>&1) &
	second=$!
	until_true test -e sub/ready
	"$@" mv sub .git/modules
	touch .git/modules/go
	wait "$second"
	grep -v 'File exists$' "$tmp/second"
	planted .git/modules/x/config
	planted=$?
	umount "$work/.git/modules/x"
	return "$planted"
}
not_with_a_mount() { ! with_a_mount "$@"; }
if is_root; then
	ok "something is mounted in the folder that is renamed" not_with_a_mount "${sandbox[@]}"
	ok "... which is written to without a sandbox (control)" with_a_mount
	ok "the folder that is renamed is mounted in the other's" not_through_a_mount "${sandbox[@]}"
	ok "... which is written to without a sandbox (control)" through_a_mount
else
	skip "the folder that is renamed is mounted in the other's" "only root can mount"
fi
cd "$tmp" || exit 99

# On a kernel that does not tell of one mount by itself, too.
if [ -z "${CORDON_MISSING:-}" ]; then
	first=("${sandbox[@]}")
	ok "the same where the kernel is older" renamed "$CORDON_BUILD/tests/enosys" statmount -- "${sandbox[@]}" @ \
		sub 'mv sub .git' .git/config .git/hooks/pre-commit
fi
finish
