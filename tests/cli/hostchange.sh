#!/bin/bash
# Denied and protected names stay covered although the host's user works on them while a sandbox runs.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

marker=MARKER-of-the-host

# reader FILE: a run that tries to read FILE and to write to it a second from now; what it got goes to $tmp/got. (For an instant after the host's change the name stands open.)
reader()
{
	"$CORDON" run -- sh -c 'sleep 1; cat "$1"; echo planted >>"$1"' sh "$1" >"$tmp/got" 2>/dev/null &
	run=$!
	sleep 0.3
}

holds()
{
	wait "$run"
	! grep -q "$marker" "$tmp/got" && ! grep -rq planted "$work"
}

a_file_is_replaced_by_rename()
{
	echo old >.env
	reader .env
	echo "$marker" >new && mv new .env
	holds
}

a_file_is_deleted_and_made_again()
{
	echo old >.env
	reader .env
	rm .env && sleep 0.1 && echo "$marker" >.env
	holds
}

a_protected_file_is_replaced()
{
	git init -q . && reader .git/config
	cp .git/config new && mv new .git/config
	wait "$run"
	! grep -q planted .git/config
}

# In a folder that nobody watches, because there was nothing to cover in it: found when the sandbox's folders are searched again.
a_file_is_made_in_a_new_folder()
{
	"$CORDON" run -- sh -c 'sleep 5; cat new/deep/.env; echo planted >>new/deep/.vimrc' >"$tmp/got" 2>/dev/null &
	run=$!
	sleep 0.5
	mkdir -p new/deep && echo "$marker" >new/deep/.env && echo '" mine' >new/deep/.vimrc
	holds
}

has_lines()
{
	[ "$(wc -l <"$tmp/got")" = "$1" ]
}

# As soon as they are there, and so before the next search mostly.
modes_of_new_files_stay()
{
	mkdir -p modes
	"$CORDON" run -- python3 -c '
import os
def tried(name, how):
    while True:
        try: how(name)
        except FileNotFoundError: continue
        except OSError: return "no"
        return "changed"
def by_fd(name):
    fd = os.open(name, os.O_RDONLY)
    os.fchmod(fd, 0o666)
print("up", flush=True)
for name, how in (("modes/.env", lambda n: os.chmod(n, 0o666)), ("modes/.vimrc", by_fd), ("modes/late.sock", lambda n: os.chmod(n, 0o777)), ("modes/.bashrc", lambda n: os.setxattr(n, "user.x", b"x")), ("modes/plain", lambda n: os.chmod(n, 0o604))):
    print(tried(name, how), flush=True)' >"$tmp/got" 2>&1 </dev/null &
	run=$!
	until_true grep -q up "$tmp/got"
	(
		umask 077
		n=1
		for name in .env .vimrc late.sock .bashrc plain; do
			if [ "$name" = late.sock ]; then
				python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("modes/late.sock")'
			else
				: >"modes/$name"
			fi
			n=$((n + 1))
			until_true has_lines "$n"
		done
	)
	wait "$run"
	cat "$tmp/got"
	[ "$(tr '\n' ' ' <"$tmp/got")" = "up no no no no changed " ] && [ "$(cd modes && stat -c %a .env .vimrc late.sock plain | tr '\n' ' ')" = "600 600 700 604 " ]
}

the_search_meets_moving_folders()
{
	"$CORDON" run -- python3 -c '
import os, time
for i in range(300): os.makedirs("j/%d/k" % i)
os.makedirs("a" + "/" + "/".join(["n" * 200] * 15))
end = time.monotonic() + 6
while time.monotonic() < end:
    for i in range(300): os.rename("j/%d" % i, "j/x"); os.rename("j/x", "j/%d" % i)
print(open("new/deep/.env").read())' >"$tmp/got" 2>/dev/null &
	run=$!
	sleep 2
	mkdir -p new/deep && echo "$marker" >new/deep/.env
	holds
}

# Without Landlock's scopes a workload can signal whoever searches.
the_search_is_hindered() # SIGNAL
{
	local lacking=landlock_create_ruleset,landlock_add_rule,landlock_restrict_self
	# so that there is something to search
	mkdir -p many && (cd many && seq 20000 | xargs touch)
	cat >hinder.py <<'END'
import os, signal, sys, time
sig, me, end = signal.Signals[sys.argv[1]], os.getpid(), time.time() + 8
while time.time() < end:
    for p in range(2, 300):
        try:
            if p != me:
                os.kill(p, sig)
        except OSError:
            pass
os.execvp("sh", ["sh", "-c", "cat new/deep/.env; echo $0 >>new/deep/.vimrc", sys.argv[2]])
END
	"$CORDON_BUILD/tests/enosys" "$lacking" -- "$CORDON" run -- python3 hinder.py "$1" planted >"$tmp/got" 2>/dev/null &
	run=$!
	sleep 0.5
	mkdir -p new/deep && echo "$marker" >new/deep/.env && echo '" mine' >new/deep/.vimrc
	holds && [ "$(cat new/deep/.vimrc)" = '" mine' ]
}

# late FOLDER MODE FILE: a workload that owns a folder sets its mode; the host makes a denied FILE there, and the workload, which knows its name, looks at it until it cannot any more.
late()
{
	rm -f go
	: >"$tmp/got" # what an earlier one said does not count
	"$CORDON" run -- sh -c 'mkdir -p sub/deep; chmod "$2" "$1"; echo up; until [ -e go ]; do sleep 0.05; done
		for i in $(seq 200); do cat "$3" >/dev/null || break; sleep 0.1; done; cat "$3"; echo planted >>"$3"; echo on' sh "$@" >"$tmp/got" 2>"$tmp/told" &
	run=$!
	until_true grep -q up "$tmp/got" || return 1
	echo "$marker" >"$3"
	touch go
	wait "$run"
	chmod 700 "$1"
	cat "$tmp/got" "$tmp/told"
	[ "$(cat "$3")" = "$marker" ] && grep -q '^on$' "$tmp/got" && ! grep -q "$marker" "$tmp/got"
}

# The name was covered at the start: it is watched, and covered again, in a folder that cannot be read.
replaced_in_a_blind_folder()
{
	mkdir blind && echo old >blind/.env && rm -f go
	: >"$tmp/got"
	"$CORDON" run -- sh -c 'chmod 300 blind; sleep 1; echo up; until [ -e go ]; do sleep 0.05; done; sleep 0.5; cat blind/.env; echo on' >"$tmp/got" 2>"$tmp/told" &
	run=$!
	until_true grep -q up "$tmp/got" || return 1
	rm -f blind/.env && echo "$marker" >new && mv new blind/.env && touch go
	wait "$run"
	chmod 700 blind
	cat "$tmp/got" "$tmp/told"
	grep -q '^on$' "$tmp/got" && ! grep -q "$marker" "$tmp/got"
}

# Folders that are shut are nothing special to whoever makes them: none is covered, nothing is told.
shut_folders_are_left_alone()
{
	inside sh -c 'mkdir -p a/b c && touch a/x && chmod 0 a/b c a && sleep 5 && chmod 700 a && rmdir a/b c && rm a/x && rmdir a'
	printf '%s\n' "$status" "$said" "$told"
	[ "$status" = 0 ] && ! events "$(runs | head -n 1)" denial
}

# What cannot be searched for long could hold anything.
ends_for() # REASON CMD...
{
	timeout 60 "$CORDON" run -- "${@:2}" >"$tmp/got" 2>"$tmp/told" </dev/null
	status=$?
	cat "$tmp/got" "$tmp/told"
	[ "$status" = 125 ] && grep -q "$1" "$tmp/told" && events "$(runs | head -n 1)" signal | grep -q "$1"
}

# early CHANGE: in the first moments of a run, before its folders are searched again or watched.
early()
{
	rm -f ready go && echo old >.env
	"$CORDON" run -- sh -c 'touch ready; while ! [ -e go ]; do :; done; sleep 0.1; cat .env; echo planted >>.env' >"$tmp/got" 2>/dev/null &
	run=$!
	while ! [ -e ready ]; do sleep 0.01; done
	"$1"
	touch go
	holds
}

replace()
{
	echo "$marker" >new && mv new .env
}

make_again()
{
	rm .env && sleep 0.02 && echo "$marker" >.env
}

# Tries without a pause to get hold of what the host makes, in each way that could write to it, and writes later: what it was renamed to by then has other contents.
cat >"$work/snatch.py" <<'END'
import os, sys, time
ways = os.O_RDWR, os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_NOFOLLOW
here = os.open(".", os.O_RDONLY)
held, seen, end = [], set(), time.monotonic() + 3
while time.monotonic() < end and not os.path.exists("done"):
    for name in sys.argv[1:]:
        for way in ways:
            try:
                held.append(os.open(name, way))
                seen.add(name)
            except OSError:
                pass
        try:
            os.truncate(name, 1)
            seen.add(name + " by truncate")
        except OSError:
            pass
        # by another name, that of the file or of what is open of it
        try:
            os.link(name, "other")
            held.append(os.open("other", os.O_RDWR))
            seen.add(name + " by link")
        except OSError:
            pass
        try:
            fd = os.open(name, os.O_RDONLY); held.append(fd)
            os.link("/proc/self/fd/%d" % fd, "another", dst_dir_fd=here, follow_symlinks=True) # without a folder Python links the link
            held.append(os.open("another", os.O_RDWR))
            seen.add(name + " by the link of what is open")
        except OSError:
            pass
        for other in "other", "another":
            if os.path.exists(other):
                os.unlink(other)
    if len(held) > 200:
        for fd in held[:100]:
            os.close(fd)
        del held[:100]
print(*sorted(seen))
for fd in held:
    try:
        os.pwrite(fd, b"snatched", 0)
    except OSError:
        pass # only to be read
END

# What the host's user does meanwhile; each of these git writes to a lock file, and renames it.
work_on()
{
	local i
	sleep 0.5
	for i in {1..20}; do git config "user.name" "n$i"; done
	git init -q sub
	mkdir .vscode && echo "{}" >.vscode/settings.json && echo "# mine" >.envrc
	sleep 0.2
	touch done
}

snatch() # WORD...: before the command
{
	rm -rf .git sub .vscode .envrc done
	git init -q .
	"$@" python3 snatch.py .git/config.lock .git/config sub/.git/config.lock sub/.git/config .vscode/settings.json .envrc >"$tmp/got" 2>/dev/null &
	run=$!
	work_on
	wait "$run"
	! grep -q . "$tmp/got" && ! grep -rq snatched .git sub .vscode .envrc
}
ok "protected files that the host makes or rewrites are never open for writing, nor what they are renamed from" snatch "$CORDON" run --
ok "without a sandbox they are (control)" eval "! snatch"
rm -rf .git sub .vscode .envrc done snatch.py

ok "a denied file that the host replaces as the run starts stays unreadable" early replace
ok "a denied file that the host deletes and makes again as the run starts stays unreadable" early make_again
ok "a denied file that the host replaces stays unreadable" a_file_is_replaced_by_rename
ok "a denied file that the host deletes and makes again stays unreadable" a_file_is_deleted_and_made_again
ok "a protected file that the host replaces stays read-only" a_protected_file_is_replaced
ok "a denied or protected file that the host makes in a new folder is covered within seconds" a_file_is_made_in_a_new_folder
ok "... and neither it nor a service's socket there is opened to other users before" modes_of_new_files_stay
rm -rf new
ok "... in a folder that the workload has made unreadable" late sub 300 sub/.env
rm -rf sub
ok "... although it made the whole work folder unreadable" late . 300 sub/deep/.env
chmod 700 . && rm -rf sub
ok "... or a folder above it" late sub 100 sub/deep/.env
rm -rf sub
ok "a denied file in an unreadable folder that the host replaces stays unreadable" replaced_in_a_blind_folder
rm -rf blind
ok "folders that a workload shuts are left alone, and not told of" shut_folders_are_left_alone
inside_works "... and what makes names for the workload goes through none of them" \
	sh -c 'mkdir x && touch x/f && chmod 0 x && for i in 1 2 3 4 5 6; do ! touch x/g && ! mv x/f y && ! ln x/f y && ! mkdir x/d && ! echo w >x/f || exit 1; sleep 0.5; done; chmod 700 x && ls x && rm -r x'
ok "a run whose folders are nested too deep to be searched ends, and says so" ends_for 'could not be searched for denied names' \
	sh -c 'for i in $(seq 600); do mkdir n && cd n || exit; done; sleep 50'
rm -rf n
ok "... but not where they are gone again soon" eval 'inside sh -c "mkdir -p $(printf n/%.0s {1..600}) && rm -r n && sleep 4 && ls" && succeeded'
rm -rf n

# A user may have files of a group that the sandbox does not know: there the kernel lets nobody but the folder's mode decide. Only root can make such a user.
if is_root && command -v setpriv >/dev/null; then
	mkdir -p "$tmp/other/home" "$tmp/other/work/closed" && cp "$CORDON" "$tmp/other/" && chown -R 4242:4243 "$tmp/other" && chmod 2770 "$tmp/other/work" && chmod 711 "$tmp"
	other()
	{
		(cd "$tmp/other/work" && setpriv --reuid 4242 --regid 4242 --groups 4242,4243 env HOME="$tmp/other/home" XDG_STATE_HOME="$tmp/other/state" XDG_CACHE_HOME="$tmp/other/cache" XDG_RUNTIME_DIR= TMPDIR=/tmp timeout 60 "$tmp/other/cordon" "$@")
	}
	another_group() # COMMAND: what is blind for long ends the run
	{
		other run -- sh -c "$1" >"$tmp/got" 2>"$tmp/told" </dev/null
		status=$?
		cat "$tmp/got" "$tmp/told"
		[ "$status" = 125 ] && grep -q 'could not be searched for denied names' "$tmp/told"
	}
	ok "an unreadable folder of a group that the sandbox does not know ends the run" another_group 'mkdir sub && chmod 00300 sub; sleep 50'
	chmod 2770 "$tmp/other/work" && rm -rf "$tmp/other/work/sub"
	ok "... also where it is the work folder" another_group 'chmod 00300 .; sleep 50'
	chmod 2770 "$tmp/other/work"
	ok "... but not one that is shut" other run -- sh -c 'chmod 0 closed && sleep 5 && chmod 700 closed && ls closed'
else
	skip "folders of a group that the sandbox does not know" "only root can make such a user"
fi
# In a user namespace of its own this run may have none.
unwatched()
{
	echo secret >.env
	unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_inotify_instances && exec "$@"' sh "$CORDON" run -- sleep 3 2>"$tmp/told" </dev/null
	cat "$tmp/told"
	rm -f .env
	grep -q 'note: no inotify watches were left' "$tmp/told" && [ "$("$CORDON" logs --json "$("$CORDON" ps -a -q | head -n 1)" | grep -c 'no inotify watches are left')" = 1 ]
}
if unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_inotify_instances' 2>/dev/null; then
	ok "a run without watches says so, once" unwatched
else
	skip "a run without watches says so" "no user namespaces in which none are left"
fi
ok "a denied file that the host makes is covered although the workload moves folders all the time" the_search_meets_moving_folders
rm -rf new j a
ok "... although the workload stops whoever searches" the_search_is_hindered SIGSTOP
rm -rf new
ok "... or kills it" the_search_is_hindered SIGKILL
finish
