#!/bin/bash
# workdir: copy, cordon diff and cordon apply: the round trip, what is refused, and what happens where overlayfs is missing.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

policy <<'END'
filesystem: {workdir: copy, deny: ["**/denied/**"]}
END
mkdir -p src/deep keep
echo one >src/a
echo two >src/deep/b
echo gone >src/removed
echo kept >keep/k
chmod 644 src/a
ln -s a src/link

# changed CMD: a run with that shell script; sets id.
changed()
{
	inside sh -ec "$1"
	id=$(runs | head -n 1)
}
tree()
{
	find . -printf '%P %y %m %l\n' | sort
	find . -type f -exec sha256sum {} + | sort
}
before=$(tree)
changed 'echo more >>src/a; rm src/removed; mkdir -p new/sub; echo fresh >new/sub/f; mv src/deep/b src/deep/c; chmod 755 src/a; ln -sfn deep/c src/link; printf "\0\1" >bin'
ok "a run in a copy ends well" succeeded
is "the host's folder is as it was" "$(tree)" "$before"
outside "$CORDON" diff "$id"
for line in '^--- a/src/a' '^\+more$' '^\+fresh$' '^-gone$' '^Binary files' ; do
	ok "diff: a unified diff with ${line#^}" grep -qE -- "$line" "$tmp/out"
done
outside "$CORDON" diff --list "$id"
for name in src/a src/removed new/sub/f src/deep/b src/deep/c src/link bin; do
	like "diff --list: $name" "$said" "$name"
done
is "diff --json is one document" "$("$CORDON" diff --json "$id" | python3 -c 'import json,sys; d=json.load(sys.stdin); print(sorted(c["path"] for c in d["changes"] if c["type"]!="folder" and "deep/" not in c["path"]))')" "['bin', 'new/sub/f', 'src/a', 'src/link', 'src/removed']"
is "diff changes nothing" "$(tree)" "$before"
cp -a . "$tmp/patched"
"$CORDON" diff "$id" 2>/dev/null >"$tmp/patch"
if [ -x /usr/bin/git ]; then
	ok "diff: git apply takes the text of it" sh -c 'cd "$1" && git apply --include="src/a" "$2" && grep -q more src/a' - "$tmp/patched" "$tmp/patch"
fi
outside "$CORDON" apply "$id"
is "apply: it ends well" "$status" 0
is "apply: contents, links, modes and removals came back" "$(cat src/a new/sub/f src/deep/c; readlink src/link; stat -c %a src/a; ls src/removed src/deep/b 2>/dev/null; od -An -tx1 bin)" "$(printf 'one\nmore\nfresh\ntwo\ndeep/c\n755\n 00 01')"
changed 'echo x >shut; chmod 000 shut; echo x >only-written; chmod 200 only-written'
outside "$CORDON" apply "$id"
like "apply: a file that its maker shut may be readable, never executable" "$(stat -c %a shut only-written | tr '\n' ' ')" '^(0|400) (200|600) $'
rm -f shut only-written
is "apply: what was made is the caller's" "$(stat -c %u new new/sub/f bin src/deep/c | sort -u)" "$(id -u)"
is "apply: no stray file is left" "$(find . -name '*cordon*')" ""
outside "$CORDON" apply "$id"
is "apply: a second time there is nothing to do" "$status" 0
heart=$'\xe2\x9d\xa4\xef\xb8\x8f.md' coder=$'\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb.txt'
outside "$CORDON" run --profile strict -- sh -c 'for n in "$@"; do echo x >"$n"; done' - "$heart" "$coder"
outside "$CORDON" apply "$(runs | head -n 1)"
is "apply: names with emoji of several characters come back" "$status:$(cat "$heart" "$coder" | tr '\n' ' ')" "0:x x "
rm -f "$heart" "$coder"
outside "$CORDON" run --profile strict -- sh -c 'echo x >"$1"' - $'a\xef\xb8\x8f.md'
outside "$CORDON" apply "$(runs | head -n 1)"
like "apply: the same characters where nobody sees them do not" "$status:$told" '^125:.*invisible'
changed 'echo x >x; rm x'
is "a run that changed nothing has an empty diff" "$("$CORDON" diff "$id" 2>/dev/null)" ""
is "and says so" "$("$CORDON" diff "$id" 2>&1)" "cordon: $id: no changes"
is "but not in a list" "$("$CORDON" diff --list "$id" 2>&1)" ""
ok "and applies" "$CORDON" apply "$id"

# As sshfs has it for links, and others for all files.
timeless=("$CORDON_BUILD/tests/enosys" utimensat --)
for run in '' timeless; do
	launcher=()
	[ -z "$run" ] || launcher=("${timeless[@]}")
	outside "${launcher[@]}" "$CORDON" run --policy "$tmp/policy.yaml" -- sh -ec 'mkdir timeless; echo x >timeless/f; ln -s nowhere timeless/link'
	is "a run's changes are kept${run:+ where times cannot be set}" "$status:$told" 0:
	outside "${timeless[@]}" "$CORDON" apply "$(runs | head -n 1)"
	is "apply: files, links and folders come back where times cannot be set" "$status:$(cat timeless/f):$(readlink timeless/link)" "0:x:nowhere"
	rm -rf timeless
done

# A folder that replaces another has an attribute of overlayfs in the layer above. Where there are none (in memory before Linux 6.6, on some disks), the copy is kept elsewhere.
mkdir -p old/sub other
echo x >old/sub/f
for lacking in '' setxattr; do
	launcher=()
	[ -z "$lacking" ] || launcher=("$CORDON_BUILD/tests/enosys" "$lacking" --)
	outside "${launcher[@]}" "$CORDON" run --policy "$tmp/policy.yaml" -- sh -ec 'rm -r old; mkdir old; ls old; mkdir made; mv made other/made; mv old other/old; ls other/old; ls other'
	is "folders are replaced and moved${lacking:+ (without $lacking)}" "$status:$said" $'0:made\nold'
	is "and the diff knows it" "$("$CORDON" diff --list "$(runs | head -n 1)" | awk '{ print $2 }' | sort | tr '\n' ' ')" "old/ old/sub/ old/sub/f other/made/ other/old/ "
done
rm -r old other

# --- refused ---

# not_applied NAME SCRIPT REGEX: apply says no and changes nothing.
not_applied()
{
	local now
	changed "$2"
	now=$(tree)
	outside "$CORDON" apply "$id"
	ok "refused: $1" says_no "$3"
	is "refused: ... and nothing was applied ($1)" "$(tree)" "$now"
}
says_no()
{
	printf 'status %s\n%s\n' "$status" "$told"
	[ "$status" != 0 ] && [[ $told =~ $1 ]] && [[ $told =~ (^|$'\n')cordon:\  ]]
}
not_applied "a link out of the folder" 'echo fine >fine; ln -s /etc/passwd out' 'out'
not_applied "a link out by dots" 'ln -s ../../../etc dots' 'dots'
not_applied "a FIFO" 'echo fine >fine; mkfifo pipe' 'pipe'
not_applied "a socket" 'python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")"' 'sock'
changed 'echo x >suid; chmod 4755 suid || true; chmod 2755 suid || true'
is "setuid bits cannot be made inside" "$("$CORDON" apply --skip-refused "$id" >/dev/null 2>&1; find . -perm /6000)" ""
mkdir -p shut/in && chmod 710 shut && chmod 750 shut/in
changed 'chmod 777 shut shut/in || true; chmod 705 shut/in || true; echo x >shut/in/f'
outside "$CORDON" apply --skip-refused "$id"
is "folders of the host are not opened to other users" "$(stat -c %a shut shut/in | tr '\n' ' ')$(cat shut/in/f)" "710 700 x"
rm -rf shut
changed 'mkdir -p .git/hooks 2>/dev/null || true; echo x >.git/hooks/pre-commit || true; echo y >ok-file' 2>/dev/null
outside "$CORDON" apply --skip-refused "$id"
is "denied names never come back" "$(ls .git/hooks/pre-commit denied 2>/dev/null)" ""
changed 'echo fine >fine; ln -s /etc/passwd out'
outside "$CORDON" apply "$id"
is "a refused apply lists what is refused, and nothing else" "$(grep -c REFUSED "$tmp/err"):$(grep -c 'added *fine' "$tmp/err")" 1:0
is "... and speaks of what the host changed only where it did" "$(grep -c -e --force "$tmp/err")" 0
like "ps says that there are changes" "$("$CORDON" ps --all; "$CORDON" ps --all --json)" "$id [^
]* kept +.*\"id\":\"$id\"[^}]*\"changes\":true"
outside "$CORDON" diff "$id"
like "diff names the option that shows what is refused" "$told" "cordon diff --all $id"
outside "$CORDON" apply --skip-refused "$id"
is "--skip-refused brings the rest" "$status:$(cat fine):$(ls out 2>/dev/null)" "0:fine:"

# --- conflicts ---

echo base >conflict
changed 'echo inside >conflict; echo inside >both'
sleep 0.05
echo outside >conflict
outside "$CORDON" apply "$id"
ok "conflict: a file that changed on the host since is refused" says_no 'conflict'
like "... with what helps" "$told" '--force lets the run'
is "conflict: the host's version stays" "$(cat conflict; ls both 2>/dev/null)" outside
outside "$CORDON" apply --force "$id"
is "conflict: --force lets the run's version win" "$status:$(cat conflict both | tr '\n' ' ')" "0:inside inside "
changed 'echo inside >appears'
echo outside >appears
outside "$CORDON" apply "$id"
ok "conflict: a file that appeared on the host since" says_no 'appears'
is "conflict: it stays" "$(cat appears)" outside
changed 'rm keep/k'
sleep 0.05
echo changed >>keep/k
outside "$CORDON" apply "$id"
ok "conflict: removed inside, changed on the host" says_no 'keep/k'

# host_deletes [HOW [LAUNCHER...]]: the host deletes what the run changed, replaced, made anew, moved, or worked in.
host_deletes()
{
	local how=${1:+ ($1)} name
	shift
	mkdir del del/gone{,/deep} del/left
	cd del || exit 99
	for name in edited replaced anew moved gone/g gone/deep/f left/f 'sp ace'; do echo old >"$name"; done
	ln -s edited link
	outside "$@" "$CORDON" run --policy "$tmp/policy.yaml" -- sh -ec 'echo more >>edited; echo other >t; mv t replaced; rm anew; echo new >anew; mv moved renamed; echo x >>gone/deep/f; echo x >gone/made
		ln -sfn anew link; echo more >>"sp ace"; echo new >new; mkdir fresh; echo new >fresh/f; echo new >left/new; rm left/f; mkdir left/f; echo new >left/f/f'
	id=$(runs | head -n 1)
	sleep 0.05
	rm -r edited replaced anew moved gone link left/f 'sp ace'
	"$CORDON" diff --list "$id" >"$tmp/list"
	for name in edited replaced anew 'link -> anew' gone/ left/f/ 'sp ace'; do
		ok "conflict: diff knows that the host deleted $name$how" grep -q " $name  REFUSED: changed on the host since the run started" "$tmp/list"
	done
	is "conflict: what is new is not refused$how" "$(grep -v REFUSED "$tmp/list" | awk '{ print $2 }' | sort | tr '\n' ' ')" "fresh/ fresh/f left/new new renamed "
	outside "$CORDON" apply "$id"
	ok "conflict: apply refuses what the host deleted$how" says_no 'changed on the host since'
	is "conflict: ... and brings nothing back$how" "$(find . -type f -o -type l)" ""
	outside "$CORDON" apply --skip-refused "$id"
	is "conflict: --skip-refused brings what is new$how" "$status:$(find . -type f -o -type l | sort | tr '\n' ' ')" "0:./fresh/f ./left/new ./new ./renamed "
	outside "$CORDON" apply "$id"
	ok "conflict: what was refused is refused again$how" says_no 'changed on the host since'
	outside "$CORDON" apply --force "$id"
	is "conflict: --force brings the rest$how" "$status:$(cat edited replaced anew gone/deep/f gone/made left/f/f 'sp ace' | tr '\n' ' '):$(readlink link)" "0:old more other new old x x new old more :anew"
	cd ..
	rm -r del
}
host_deletes ''
host_deletes 'on disk' "$CORDON_BUILD/tests/enosys" setxattr --

# What the host deletes while the run goes on is no different.
echo old >early
mkfifo "$tmp/go"
"$CORDON" run --policy "$tmp/policy.yaml" -- sh -c 'echo new >t; echo ready; read -r x; mv t early' <"$tmp/go" >"$tmp/out" &
pid=$!
exec 7>"$tmp/go"
until_true grep -q ready "$tmp/out"
rm early
echo >&7
exec 7>&-
wait "$pid"
like "conflict: a file that the host deleted during the run" "$("$CORDON" diff --list "$(runs | head -n 1)")" 'early  REFUSED: changed on the host since the run started'

# --- wrong runs ---

outside "$CORDON" diff 00000000
ok "diff: no such run" refused 125 'no such run'
outside "$CORDON" apply zzz
ok "apply: not an id" refused 125 'not the id'
in_background sleep 20
outside "$CORDON" apply "$id"
ok "apply: a run that goes on" refused 125 'still going on'
"$CORDON" stop --time 0 "$id"
ended "$pid"
policy <<'END'
filesystem: {workdir: read-write}
END
inside true
outside "$CORDON" apply "$(runs | head -n 1)"
ok "apply: a run whose folder was not a copy" refused 125 'was not a copy'
policy <<'END'
filesystem: {workdir: copy}
END
changed 'echo slow >slow; sleep 0.2; exit 7'
is "the changes of a run that failed are kept" "$status:$("$CORDON" diff --list "$id" | grep -c slow)" "7:1"
inside sh -c 'echo x >before-shut; chmod 000 .; exit 7'
id=$(runs | head -n 1)
is "... also where it shut its work folder" "$status:$("$CORDON" diff --list "$id" | grep -c before-shut)" "7:1"
in_background sh -c 'echo x >unsaved; echo x >/dev/null; sleep 30'
sleep 0.3
kill -TERM "$pid"
ended "$pid"
is "so are those of a run that a signal ended" "$("$CORDON" diff --list "$id" | grep -c unsaved)" 1
is "a folder in memory does not hold up a large copy" "$(changed 'head -c 20000000 /dev/zero >large'; "$CORDON" diff --list "$id" 2>/dev/null | grep -c large)" 1

# --- without overlayfs ---

# A folder that is an overlay of an overlay of an overlay cannot be the lower layer of a further one: the kernel allows two.
if is_root; then
	o=$tmp/o
	mkdir -p "$o"/{l,u1,w1,m1,u2,w2,m2,t}
	echo below >"$o/l/file"
	if mount -t tmpfs cordon-test "$o/t" 2>/dev/null && mkdir "$o"/t/{u1,w1,u2,w2} && mount -t overlay -o "lowerdir=$o/l,upperdir=$o/t/u1,workdir=$o/t/w1" cordon-test "$o/m1" 2>/dev/null &&
		mount -t overlay -o "lowerdir=$o/m1,upperdir=$o/t/u2,workdir=$o/t/w2" cordon-test "$o/m2" 2>/dev/null; then
		trap 'umount -l "$o/m2" "$o/m1" "$o/t" 2>/dev/null; tap_cleanup' EXIT
		cd "$o/m2" || exit 99
		changed 'cat file; echo changed >file; echo new >new; ls -A | sort | tr "\n" " "'
		like "no overlay: a plain copy takes its place" "$status:$said" $'^0:below\nfile new '
		like "no overlay: and it says so" "$told" 'copying it instead'
		is "no overlay: the host's folder is as it was" "$(cat file; ls)" "$(printf 'below\nfile')"
		like "no overlay: diff" "$("$CORDON" diff "$id" 2>/dev/null)" '\+changed'
		outside "$CORDON" apply "$id"
		is "no overlay: apply" "$status:$(cat file new | tr '\n' ' ')" "0:changed new "
		host_deletes 'no overlay'
		cd "$work" || exit 99
	else
		skip "no overlay: a plain copy takes its place" "cannot stack overlays here"
	fi
else
	skip "no overlay: a plain copy takes its place" "needs root, to stack overlays"
fi

# --- files of another group of the user's ---

if is_root && command -v setpriv >/dev/null; then
	mkdir -p "$tmp/other/home" "$tmp/other/work/sub" && cp "$CORDON" "$tmp/other/" && echo old >"$tmp/other/work/sub/f" && chown -R 4242:4242 "$tmp/other" && chgrp 4243 "$tmp/other/work/sub/f" && chmod 711 "$tmp"
	other()
	{
		(cd "$tmp/other/work" && setpriv --reuid 4242 --regid 4242 --groups 4242,4243 env HOME="$tmp/other/home" XDG_STATE_HOME="$tmp/other/state" XDG_CACHE_HOME="$tmp/other/cache" XDG_RUNTIME_DIR= TMPDIR=/tmp timeout 60 "$tmp/other/cordon" "$@")
	}
	outside other run --profile strict -- sh -c 'echo new >sub/f && chmod 600 sub/f && mv sub/f sub/g && cat sub/g'
	is "a file of another group of the user's can be changed in a copy" "$status:$said" "0:new"
	like "... and it is said how" "$told" 'note: sub/f is of another group than yours.*copied as a whole'
	is "... the host's is as it was" "$(cat "$tmp/other/work/sub/f")" old
	outside other apply "$(other ps -a -q | head -n 1)"
	is "... and the change comes back" "$status:$(ls "$tmp/other/work/sub"):$(cat "$tmp/other/work/sub/g")" "0:g:new"
	outside other run --profile strict -- sh -c 'echo x >made; chmod 000 .; exit 7'
	outside other apply "$(other ps -a -q | head -n 1)"
	is "... also from a folder that the run shut" "$status:$(cat "$tmp/other/work/made")" "0:x"
	mkfifo "$tmp/other/work/fifo" && head -c 20000000 /dev/zero >"$tmp/other/work/large" && mkdir -m 000 "$tmp/other/work/shut" && chgrp 4243 "$tmp/other/work" && chown -h 4242 "$tmp/other/work"/*
	printf 'version: 1\nextends: [strict]\nfilesystem: {tmp_size: 8M}\n' >"$tmp/other/small.yaml"
	outside other run -p "$tmp/other/small.yaml" -- sh -c 'mkdir closed; head -c 4000000 /dev/zero >closed/f; chmod 000 closed; sleep 1.5; ls -d fifo large'
	is "a copy has no FIFO of the host's, which does not matter, and what was there or is shut does not count for tmp_size" "$status:$said" "2:large"
	outside other run -p "$tmp/other/small.yaml" -- sh -c 'i=0; while [ $i -lt 300 ]; do head -c 1000000 /dev/zero | tr "\0" x >f$i || break; i=$((i + 1)); sleep 0.02; done; echo all'
	like "tmp_size bounds what a copy grows by" "$status:$said:$told" '^137::.*filesystem.tmp_size was reached and ended the run'
	outside other run -p "$tmp/other/small.yaml" -- sh -c 'mkdir closed; chmod 300 closed; i=0; while [ $i -lt 300 ]; do head -c 1000000 /dev/zero | tr "\0" x >closed/f$i || break; i=$((i + 1)); sleep 0.02; done; echo all'
	like "... also in folders that are shut to the user" "$status:$said:$told" '^137::.*filesystem.tmp_size was reached and ended the run'
	outside other diff --list "$(other ps -a -q | head -n 1)"
	like "... and what it had made by then is kept" "$status:$said" '^0:.*closed'
	other run --profile strict -- sleep 30 2>/dev/null &
	for _ in {1..50}; do
		one=$(other ps -q) && [ -n "$one" ] && [ -e "$tmp/other/state/cordon/runs/$one/fleeting" ] && break
		sleep 0.1
	done
	sleep 0.5
	kill -KILL "$(other ps --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["pid"])')"
	wait $!
	outside other ps
	is "of a run whose supervisor was killed no copy stays" "$(cd "$tmp/other/state/cordon/runs/$one" && echo *)" audit.jsonl
else
	skip "a file of another group of the user's can be changed in a copy" "only root can make such a user"
fi

# --- a tree deeper than any that is looked at ---

changed 'echo kept >beside; python3 -c "
import os
for i in range(1200):
    os.mkdir(\"d\"); os.chdir(\"d\")
"'
is "a very deep folder costs a run none of its other changes" "$status" 0
outside "$CORDON" apply --skip-refused "$id"
like "which come back, and of it what is no deeper than 256 folders" "$(cat beside):$(find d 2>/dev/null | wc -l):$told" '^kept:256:.*some were refused'
rm -rf beside d

# --- what an interrupted apply left ---

mkdir .cordon-apply-0123
echo precious >.cordon-apply-0123/7
outside "$CORDON" run -- sh -c 'cat .cordon-apply-*/7; rm -rf .cordon-apply-*; mv .cordon-apply-0123 x; mkdir .cordon-apply-4567'
is "no run sees or removes what an apply may still need" "$(grep -c precious <<<"$said"):$(cat .cordon-apply-0123/7):$(ls -d .cordon-apply-*)" 0:precious:.cordon-apply-0123
rm -rf .cordon-apply-0123

# --- what a terminal would obey ---

# shellcheck disable=SC2016 # for the shell inside
inside sh -c 'echo x >"made$1"' sh $'\xc2\x9b2J\xe2\x80\xae'
id=$(runs | head -n 1)
for what in "diff --json" "logs --json"; do
	# shellcheck disable=SC2086
	outside "$CORDON" $what "$id"
	like "$what: a name that a terminal would obey is there" "$said" '\\u009b2J\\u202e'
	ok "... and not as it is" sh -c '! LC_ALL=C grep -aqP "\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]" "$1"' sh "$tmp/out"
done
"$CORDON" logs --json "$id" >"$tmp/copied.log"
is "a log that was shown can be verified" "$("$CORDON" audit verify "$tmp/copied.log" >/dev/null 2>&1; echo $?)" 0
finish
