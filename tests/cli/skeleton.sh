#!/bin/bash
# The prepared root that sandboxes share: it is used, nobody inside can change or hold it, and none that is not ours or not whole is trusted.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

roots=$XDG_CACHE_HOME/cordon/roots
py=/usr/bin/python3

one()
{
	set -- "$roots"/*
	[ $# = 1 ] && [ -d "$1/root" ] || return 1
	echo "$1"
}

# uses_it: the root inside is that folder.
uses_it()
{
	inside stat -c %i / </dev/null
	printf 'inside %s, skeleton %s\n%s\n' "$said" "$(stat -c %i "$1/root")" "$told"
	[ "$said" = "$(stat -c %i "$1/root")" ]
}

passes_it_over()
{
	inside stat -c %i / </dev/null
	printf 'status %s, inside %s\n%s\n' "$status" "$said" "$told"
	[ "$status" = 0 ] && [ "$said" != "$(stat -L -c %i "$1/root")" ]
}

listing()
{
	find "$1" ! -readable -prune -o -printf '%P %y %m %U %G %s %T@ %l\n' | sort
	find "$1" ! -readable -prune -o -type f -exec sha256sum {} + | sort
}

# waited_for FILE: it is there, within seconds.
waited_for()
{
	for _ in $(seq 100); do
		[ -e "$1" ] && return
		sleep 0.05
	done
	return 1
}

printf 'FAKE-SECRET\n' >.env
policy <<'END'
filesystem: {workdir: read-write}
END
inside_works "a run without a skeleton works" true
is "and leaves a mark" "$(find "$roots" -mindepth 1 | wc -l)" 1
inside_works "so does the second" true
s=$(one)
ok "and leaves a skeleton" test -n "$s"
is "which nobody else may enter" "$(stat -c '%a %U' "$roots" "$s" | sort -u)" "700 $(id -un)"
ok "the next run uses it" uses_it "$s"

# --- nobody inside can change it
listing "$s" >"$tmp/before"
inside_says "nothing in it can be changed from inside" "" "$py" -c '
import os
def no(what, f):
    try: f()
    except OSError: return
    print(what)
for p in ["/", "/etc", "/etc/passwd", "/etc/hosts", "/.masks", "/.masks/file", "/.masks/folder", "/dev", "/var"]:
    no("chmod " + p, lambda: os.chmod(p, 0o777))
    no("utime " + p, lambda: os.utime(p))
    no("chown " + p, lambda: os.chown(p, os.getuid(), os.getgid()))
    no("setxattr " + p, lambda: os.setxattr(p, "user.x", b"x"))
    no("rename " + p, lambda: os.rename(p, p.rstrip("/") + "x"))
    no("link " + p, lambda: os.link(p, "/tmp/x"))
for p in ["/etc/passwd", "/etc/hosts", "/etc/group", "/.masks/file", "/proc/self/root/etc/passwd"]:
    no("write " + p, lambda: os.open(p, os.O_WRONLY))
    no("append " + p, lambda: os.open(p, os.O_RDWR | os.O_APPEND))
    no("truncate " + p, lambda: os.truncate(p, 0))
    no("unlink " + p, lambda: os.unlink(p))
def again():
    fd = os.open("/etc/passwd", os.O_RDONLY)
    os.open("/proc/self/fd/%d" % fd, os.O_RDWR)
no("reopen", again)
for p in ["/x", "/etc/ld.so.preload", "/var/x", "/run/x", "/.masks/x", "/usr/x"]:
    no("make " + p, lambda: os.open(p, os.O_CREAT | os.O_WRONLY))
    no("mkdir " + p, lambda: os.mkdir(p))
    no("symlink " + p, lambda: os.symlink("/tmp", p))
'
listing "$s" >"$tmp/after"
ok "and nothing is" diff "$tmp/before" "$tmp/after"
inside_says "no lease stalls the others who open its files" "refused refused" "$py" -c '
import fcntl, os
def lease(p, kind):
    try: fcntl.fcntl(os.open(p, os.O_RDONLY), fcntl.F_SETLEASE, kind)
    except OSError: return "refused"
    return "taken"
open("own", "w").close()
print(lease("/etc/passwd", fcntl.F_WRLCK), lease("own", fcntl.F_WRLCK))
os.unlink("own")'
inside_fails "masks hold over it: /proc" "ermission denied" cat /proc/interrupts
inside_fails "masks hold over it: denied names" "ermission denied" cat .env

# --- it is taken away meanwhile
"$CORDON" run --policy "$tmp/policy.yaml" -- bash -c 'echo >here; for i in {1..100}; do [ ! -e go ] || break; sleep 0.05; done; cat .env /proc/interrupts; cd /; ls -a / /proc /tmp 2>&1
find / -maxdepth 3 -name "*secret-on-host*"; echo end' >"$tmp/out" 2>&1 </dev/null &
pid=$!
waited_for here
mkdir -p "$HOME/secret-on-host"
rm -rf "$roots"
: >go
wait $pid
ok "a sandbox whose skeleton is deleted sees nothing more" tap_matches "$(cat "$tmp/out")" .
ok "... not a denied file" test -z "$(grep -a FAKE-SECRET "$tmp/out")"
ok "... nor the host's folders" test -z "$(grep -aE 'secret-on-host|CPU0' "$tmp/out")"
rm -f go here
inside true
inside true
ok "there is one again" one
"$CORDON" run --policy "$tmp/policy.yaml" -- sh -c 'echo >here; sleep 8; cat late/.env' >"$tmp/out" 2>&1 &
pid=$!
waited_for here
rm -rf "$roots"
mkdir late
echo FAKE-SECRET >late/.env
wait $pid
ok "and ends before it sees a denied file that could not be covered" test -z "$(grep -a FAKE-SECRET "$tmp/out")"
rm -rf here late

# --- what is not ours, or not whole
inside true
inside true
s=$(one)
chmod 755 "$s"
ok "one that others may enter is passed over" passes_it_over "$s"
chmod 700 "$s"
ok "... until it is right again" uses_it "$s"
mv "$s" "$tmp/elsewhere"
ln -s "$tmp/elsewhere" "$s"
ok "one behind a link is passed over" passes_it_over "$s"
rm -rf "$s"
mv "$tmp/elsewhere" "$s"
chmod 755 "$roots"
ok "one in a folder that others may enter is passed over" passes_it_over "$s"
chmod 700 "$roots"
if [ "$(id -u)" = 0 ]; then
	chown 1 "$s"
	ok "one of another user is passed over" passes_it_over "$s"
	chown 0 "$s"
fi
chmod 644 "$s/root/.masks/file"
inside_fails "one whose masks show something is refused" "damaged" true
inside_works "... and gone after it" true
inside true
s=$(one)
rmdir "$s/root/proc"
inside_fails "one with a place missing fails" "sandbox root" true
inside_works "... and is gone after it" true
inside true
s=$(one)
ok "a whole one takes its place" uses_it "$s"

# damaged WHAT COMMAND...: a skeleton that was changed so is not used, and does not stay.
damaged()
{
	local was
	s=$(one)
	was=$(stat -c %i "$s/root")
	"${@:2}"
	inside stat -c %i / </dev/null
	ok "$1 is not used" test "$status" = 0 -a "$said" != "$was"
	inside true
	inside true
	ok "... and another takes its place" uses_it "$(one)"
}
damaged "one with another file in it" sh -c 'echo "evil:x:0:0::/:/bin/sh" >"$1/root/etc/passwd"' - "$s"
damaged "one with a file of the same size in it" sh -c 'tr a-z A-Z <"$1/root/etc/passwd" >"$1/p" && cat "$1/p" >"$1/root/etc/passwd" && rm "$1/p"' - "$s"
damaged "one with a file that others may write" chmod 666 "$s/root/etc/passwd"
damaged "one with a file that has another name" ln "$s/root/etc/passwd" "$tmp/passwd"
damaged "one with a link for a file" sh -c 'rm "$1/root/etc/passwd" && ln -s /etc/shadow "$1/root/etc/passwd"' - "$s"
damaged "one whose root others may write" chmod 777 "$s/root"
for l in "$s"/root/*; do
	[ ! -L "$l" ] || break
done
[ ! -L "$l" ] || damaged "one with another link in it" ln -sfn /tmp "$l"
mkdir -p "$roots/half-gone/root/etc"
rm -rf "$s"
inside true
inside true
ok "what was left half made goes" test ! -e "$roots/half-gone"
s=$(one)

# --- others of them
"$CORDON" run --policy "$tmp/policy.yaml" -- sh -c 'echo >here; exec sleep 20' &
used=$!
waited_for here
for i in $(seq 40); do
	mkdir -p "$roots/old$i/root"
done
touch -d '1 hour ago' "$s"
policy <<'END'
filesystem: {workdir: read-write, read: [/etc/hosts.allow, /opt]}
END
inside_works "a run with another policy works" true
ok "old ones go" test "$(find "$roots" -mindepth 1 -maxdepth 1 | wc -l)" -le 34
ok "but not one in use, however old" test -d "$s/root/etc"
kill $used
wait $used
rm -rf "$roots"
for _ in 1 2 3 4 5 6; do
	"$CORDON" run --policy "$tmp/policy.yaml" -- true &
done
failed=0
for job in $(jobs -p); do
	wait "$job" || failed=$((failed + 1))
done
is "several first runs at once all work" "$failed" 0
ok "and leave one skeleton, nothing half made" one
rm -rf "$roots"
"$CORDON" run --policy "$tmp/policy.yaml" -- sh -c 'echo >here; while [ -e here ]; do sleep 0.05; done' &
late=$!
waited_for here
inside true
inside true
touch -d '1 hour ago' "$roots"
rm here
wait $late
is "a run that was begun before there was one, and ends when there is, makes no other" "$(find "$roots" -maxdepth 0 -mmin -30)" ""
rm -rf "$roots"
work=$PWD
below=$(mktemp -d /var/tmp/cordon-skeleton.XXXXXX) && cd "$below" || exit 1
inside_works "a run works in a folder below /var/tmp, where other sandboxes have a link" true
inside_works "and leaves a skeleton the second time" true
s=$(one)
ok "which the next run uses" uses_it "$s"
inside_says "/var/tmp is a folder there" "directory" stat -c %F /var/tmp
cd "$work" && rmdir "$below"
rm -rf "$roots"
: >"$roots"
inside_works "a cache that cannot be used does not matter" true
rm -f "$roots"
finish
