#!/bin/bash
# Ways around denied names, and through the guard, that once worked. Each is tried again.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

py=/usr/bin/python3
marker=MARKER-of-the-host

# project: a repository with secrets and protected files, fresh.
project()
{
	chmod -R u+rwX "$work" && rm -rf "${work:?}"/* "$work"/.[!.]* && cd "$work" || return 1
	git init -q . && mkdir -p sub/.vscode conf && echo "$marker" >sub/.env && echo '{}' >sub/.vscode/tasks.json && echo "$marker" >conf/key
}

run() # CMD...: in the default profile, output of both kinds
{
	"$CORDON" run -- "$@" 2>&1
}

unreadable_folders_stay_hidden()
{
	project
	run sh -c 'chmod 000 sub .git'
	chmod 000 sub .git
	run sh -c 'chmod 755 sub .git; cat sub/.env; echo planted >>sub/.vscode/tasks.json; echo "[x]" >>.git/config'
	chmod 755 sub .git
	! run sh -c 'cat sub/.env' | grep "$marker" && ! grep -q planted sub/.vscode/tasks.json && ! grep -qF '[x]' .git/config
}

a_folder_that_holds_a_covered_name_stays()
{
	project
	run sh -c 'mv sub other; mv .git g2; mkdir -p .git; echo "[x]" >.git/config'
	[ -e sub/.env ] && [ -e .git/HEAD ] && ! [ -e g2 ]
}

a_denied_file_is_not_freed_by_moving_its_folder()
{
	project
	policy <<-END
	filesystem: {workdir: read-write, deny: ["conf/key"]}
	END
	inside sh -c 'mv conf c2'
	inside sh -c 'cat c2/key conf/key'
	! [[ $said =~ $marker ]]
}

a_folder_that_cannot_be_read_is_not_moved_to_a_denied_place()
{
	project
	run sh -c 'mkdir -p mm/foo; echo "[core]" >mm/foo/config; chmod 000 mm/foo; mv mm .git/modules; chmod 755 .git/modules/foo'
	! [ -e .git/modules/foo ]
}

git_finds_no_other_door() # commondir, a link for modules or one in it, worktrees
{
	project
	mkdir -p .git/modules
	run sh -c 'mkdir evil; echo ../evil >.git/commondir; ln -s ../../evil .git/modules/foo; rmdir .git/modules; ln -s ../evil .git/modules
		mkdir -p d/.git && echo ../../evil >d/.git/commondir; mkdir -p .git/worktrees/x && echo ../../evil >.git/worktrees/x/commondir'
	! [ -e .git/commondir ] && ! [ -L .git/modules ] && ! [ -L .git/modules/foo ] && ! [ -e d/.git/commondir ] && ! [ -e .git/worktrees/x/commondir ]
}

no_bare_repository_is_planted()
{
	project
	run sh -c 'mkdir -p a/objects a/refs; echo "ref: refs/heads/x" >a/HEAD; echo "[core]" >a/config
		mkdir -p b/objects; echo "[core]" >b/config; echo x >b/HEAD; mkdir b/refs
		mkdir -p c/objects c/refs; echo "[core]" >c/config; echo x >c/h; mv c/h c/HEAD; ln c/h c/HEAD; ln -s h c/HEAD
		mkdir -p d/refs; echo "[core]" >d/config; echo x >d/HEAD; mkdir e; mv e d/objects
		git init -q --bare f; cd /tmp && git init -q --bare g && mv g "$OLDPWD/g"'
	local d
	for d in a b c d f g; do
		! { [ -e "$d/HEAD" ] && [ -e "$d/config" ] && [ -e "$d/objects" ] && [ -e "$d/refs" ]; } || { echo "$d is a repository"; return 1; }
	done
	run sh -c 'echo kept >config; mkdir refs objects; cd /tmp && git init -q --bare here && echo own place' | grep -q 'own place'
}

# A folder above that nobody may enter, and a path that is too long to be looked at.
no_bare_repository_is_planted_out_of_sight()
{
	project
	git init -q --bare foo.git && rm -rf foo.git/hooks && mkdir in && mv foo.git in
	cat >plant.py <<'END'
import os

def make(name, folder):
    try:
        if name in ("config", "HEAD"):
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=folder))
        else:
            os.mkdir(name, dir_fd=folder)
    except OSError:
        pass

def plant(folder, shut):
    for name in ("objects", "config", "HEAD"):
        make(name, folder)
    if shut:
        os.chmod(shut, 0)
    for name in ("refs", "hooks"):
        make(name, folder)
    if shut:
        os.chmod(shut, 0o755)

os.makedirs("p/X")
plant(os.open("p/X", os.O_RDONLY), "p")
there = os.open("in/foo.git", os.O_RDONLY)
os.chmod("in", 0)
make("hooks", there)
os.chmod("in", 0o700)
here = os.getcwd()
name = "d" * 200
while len(os.getcwd()) + len(name) + 1 < 4088:
    os.mkdir(name)
    os.chdir(name)
last = "e" * (4090 - len(os.getcwd()) - 1)
os.mkdir(last)
plant(os.open(last, os.O_RDONLY), None)
os.rename(last, here + "/deep")
END
	run python3 plant.py
	rm -rf d*dd
	[ -d p/X/objects ] && ! [ -e p/X/refs ] && ! [ -e in/foo.git/hooks ] && [ -d deep ] && ! { [ -e deep/objects ] && [ -e deep/HEAD ] && [ -e deep/refs ]; }
}

no_link_is_linked_where_none_may_be()
{
	project
	mkdir -p .git/modules
	run sh -c 'mkdir evil; ln -s ../../evil L; ln -P L .git/modules/a; python3 -c "
import os
fd = os.open(\"L\", os.O_PATH | os.O_NOFOLLOW)
os.link(\"/proc/self/fd/%d\" % fd, \".git/modules/b\", follow_symlinks=True)"; echo x >f; ln f g'
	[ -e g ] && ! [ -L .git/modules/a ] && ! [ -L .git/modules/b ]
}

a_socket_that_was_not_bound_is_not_said_to_be()
{
	project
	run python3 -c '
import os, socket
os.mkdir("s")
os.chdir("s")
os.chmod(".", 0o600)
try:
    socket.socket(socket.AF_UNIX).bind("a")
    print("bound")
except PermissionError:
    print("refused")
os.chmod(".", 0o700)' | grep -q refused && ! [ -e s/a ]
}

# in_folded CMD...: in an empty folder of a file system that takes .env and .ENV for one name.
in_folded()
{
	mkdir -p "$tmp/folded" && truncate -s 16M "$tmp/folded.img" && mkntfs -q -F -Q "$tmp/folded.img" >/dev/null 2>&1 &&
		unshare -m sh -c 'lowntfs-3g -o ignore_case,umask=000 "$1.img" "$1" && mkdir -p "$1/w" && cd "$1/w" && shift && "$@"; r=$?; cd /; umount "$0"; exit $r' "$tmp/folded" "$tmp/folded" "$@"
}

another_case_is_no_way_around()
{
	in_folded sh -c 'echo secret >.env; cat .ENV' | grep -q secret || { echo "no control"; return 1; }
	in_folded sh -c 'echo secret >.env; "$1" run -- cat .ENV; "$1" run --profile strict -- cat .ENV' - "$CORDON" >"$tmp/got" 2>&1
	[ "$(grep -c 'two spellings' "$tmp/got")" = 2 ] && ! grep -q secret "$tmp/got" || { cat "$tmp/got"; return 1; }
	in_folded "$CORDON" run -- true 2>&1 | grep -q 'two spellings'
}

# The same where each spelling has a number of its own, as with many servers of FUSE.
another_case_with_another_number_is_none_either()
{
	mkdir -p "$tmp/numbered" && unshare -m sh -c '"$1" "$2" >"$2.ready" & until grep -q ready "$2.ready" || ! kill -0 $!; do sleep 0.1; done; cd "$2" && cat .ENV && "$3" run -- cat .ENV; cd / && umount "$2"' - \
		"$tests_dir/cli/folding.py" "$tmp/numbered" "$CORDON" >"$tmp/got" 2>&1 </dev/null
	[ "$(grep -c fake-secret "$tmp/got")" = 1 ] && grep -q 'two spellings' "$tmp/got" || { cat "$tmp/got"; return 1; }
}

# The config is read where commondir points; a .git that is a file points anywhere.
no_repository_is_planted_that_lies_elsewhere()
{
	project
	run sh -c 'mkdir -p lib/objects lib/refs a b c d sub2
		printf "[core]\n\trepositoryformatversion = 1\n\tfsmonitor = \"touch planted; false\"\n[extensions]\n\tworktreeConfig = true\n" >lib/config
		echo "ref: refs/heads/m" >a/HEAD; echo ../lib >a/commondir; printf "[core]\n\tbare = false\n\tworktree = ..\n" >a/config.worktree
		echo ../lib >b/commondir; echo "ref: refs/heads/m" >b/HEAD
		echo ../lib >c/x; echo "ref: refs/heads/m" >c/HEAD; mv c/x c/commondir; ln c/x c/commondir; ln -s ../lib/x c/commondir
		mkdir .git/inner; echo ../../lib >.git/inner/commondir; echo "ref: refs/heads/m" >.git/inner/HEAD
		echo "gitdir: ../lib" >d/.git; ln -s ../lib d/.git; echo "gitdir: ../lib" >d/y; mv d/y d/.git'
	local d
	for d in a b c .git/inner; do
		! { [ -e "$d/HEAD" ] && { [ -e "$d/commondir" ] || [ -L "$d/commondir" ]; }; } || { echo "$d is a repository"; return 1; }
		git -C "$d" status >/dev/null 2>&1
	done
	! [ -e d/.git ] && ! [ -L d/.git ] && [ -z "$(find . -name planted)" ]
}

a_bare_repository_of_the_host_is_protected()
{
	project
	git init -q --bare m.git && git init -q --bare n.git && rm -rf n.git/hooks && mkdir m.git/worktrees m.git/worktrees/w && echo ../.. >m.git/worktrees/w/commondir && echo ref: x >m.git/worktrees/w/HEAD
	run sh -c 'for r in m.git n.git m.git/worktrees/w; do
			echo "[x]" >>$r/config; echo "[x]" >$r/config.worktree; echo ../evil >$r/commondir; mkdir $r/hooks; echo x >$r/hooks/post-update; mv $r/config $r/c2; rm -rf $r/hooks; echo y >$r/y; mv y $r/config
		done
		mv m.git o.git; rm n.git/HEAD; mkdir n.git/hooks; echo x >n.git/hooks/post-update; echo "ref: refs/heads/m" >n.git/HEAD
		echo written >m.git/description'
	[ "$(cat m.git/description)" = written ] && [ -d m.git/hooks ] && ! [ -e m.git/hooks/post-update ] && [ -e n.git/config ] && ! { [ -e n.git/hooks ] && [ -e n.git/HEAD ]; } &&
		! grep -rqF '[x]' m.git n.git && ! [ -e n.git/commondir ] && ! [ -e m.git/commondir ] && [ "$(cat m.git/worktrees/w/commondir)" = ../.. ] && ! [ -e m.git/worktrees/w/config ]
}

other_version_control_takes_no_orders()
{
	project
	mkdir -p .hg .jj/repo/store .bzr/branch _darcs/prefs .sl
	run sh -c 'for f in .hg/hgrc-not-shared .hg/sharedpath .jj/repo/config.toml .jj/workspace-config.toml .jj/repo/store/git_target .bzr/branch/branch.conf _darcs/prefs/defaults .sl/config .git/modules/a/config.worktree; do
		mkdir -p "${f%/*}"; echo x >$f; done'
	[ -z "$(find .hg .jj .bzr _darcs .sl .git/modules -type f)" ]
}

# One makes a name in a folder while the other calls that folder .git; or each makes one part of a repository.
two_sandboxes_in_one_folder_make_no_protected_name()
{
	project
	rm -rf .git
	"$CORDON" run -- "$py" -c '
import os, time
end = time.time() + 6
while time.time() < end:
    try: os.mkdir("d")
    except OSError: pass
    try:
        with open("d/config", "w") as f: f.write("[core]")
    except OSError: pass
    try: os.unlink("d/config")
    except OSError: pass
    try:
        os.mkdir("r/objects")
        for i in range(50):
            if os.path.exists("r/HEAD"): time.sleep(0.02)
        os.rmdir("r/objects")
    except OSError: pass' &
	local pid=$!
	"$CORDON" run -- "$py" -c '
import os, time
end = time.time() + 6
os.makedirs("r/refs", exist_ok=True)
def stays(*paths):
    for i in range(30):
        if not all(map(os.path.exists, paths)): return False
        time.sleep(0.01)
    return True
while time.time() < end:
    try:
        os.rename("d", ".git")
        if os.path.exists(".git/config") and stays(".git/config"): print("won: .git/config")
        for f in os.listdir(".git"): os.unlink(".git/" + f)
        os.rmdir(".git")
    except OSError: pass
    try:
        os.close(os.open("r/HEAD", os.O_CREAT | os.O_WRONLY))
        if os.path.exists("r/objects") and os.path.exists("r/HEAD") and stays("r/objects", "r/HEAD"): print("won: repository")
        os.unlink("r/HEAD")
    except OSError: pass' >"$tmp/race"
	wait "$pid"
	! [ -e .git/config ] && ! grep won "$tmp/race"
}

a_submodules_configuration_is_protected()
{
	project
	mkdir -p .git/modules/foo && echo '[core]' >.git/modules/foo/config
	run sh -c 'echo "[x]" >>.git/modules/foo/config'
	! grep -qF '[x]' .git/modules/foo/config
}

the_guard_opens_nothing_that_the_caller_could_not()
{
	project
	run "$py" -c '
import os
for p in "/proc/1/maps", "/proc/1/mem", "/proc/1/environ", "/proc/1/timerslack_ns":
    n = os.open(p, os.O_PATH)
    for f in os.O_RDONLY, os.O_WRONLY, os.O_RDWR:
        try: os.open("/proc/self/fd/%d" % n, os.O_CREAT | f); print("opened", p)
        except OSError: pass' | { ! grep opened; }
}

the_guard_opens_nothing_of_others_in_proc() # by whatever way it is named
{
	project
	run "$py" -c '
import os
os.chdir("/")
own = os.open("/proc/self/root", os.O_PATH)
names = ["maps", "mem", "environ", "oom_score_adj", "comm", "uid_map", "fd/0", "root", "task/1/comm"]
for way in "/proc/", "/proc/self/root/proc/", "/proc/self/cwd/proc/", "/proc/thread-self/root/proc/", "/proc/self/fd/%d/proc/" % own, "proc/":
    for whose in "1", "self", "thread-self":
        if way == "/proc/" and whose != "1": continue
        for name in names:
            for f in os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC:
                try: os.open(way + whose + "/" + name, os.O_CREAT | f); print("opened", way + whose + "/" + name)
                except OSError: pass
for name in "uid_map", "mem", "setgroups":
    try: os.open("/proc/self/" + name, os.O_CREAT | os.O_RDWR); print("opened own", name)
    except OSError: pass' | { ! grep opened; }
}

a_shell_can_write_to_its_own_proc()
{
	project
	run bash -c 'sleep 5 & sleep 0.2; echo 0x31 >/proc/$!/coredump_filter && cat /proc/$!/coredump_filter; echo renamed >/proc/$$/comm && cat /proc/$$/comm; kill $!' >"$tmp/proc"
	grep -qx 00000031 "$tmp/proc" && grep -qx renamed "$tmp/proc" || { cat "$tmp/proc"; return 1; }
}

the_guard_does_not_wait() # for a FIFO behind an fd; others go on meanwhile
{
	project
	timeout 10 "$CORDON" run -- "$py" -c '
import os, time
os.mkfifo("f"); n = os.open("f", os.O_PATH)
if os.fork() == 0:
    try: os.open("/proc/self/fd/%d" % n, os.O_CREAT | os.O_WRONLY)
    finally: os._exit(0)
if os.fork() == 0:
    os.open("f", os.O_CREAT | os.O_WRONLY); os._exit(0)
time.sleep(0.3); open("other", "w").close(); print("made")' | grep -q made
}

a_new_program_can_be_executed_at_once()
{
	project
	run sh -c 'i=0; while [ $i -lt 300 ]; do printf "#!/bin/sh\nexit 0\n" >p; chmod +x p; ./p || exit 1; rm p; i=$((i + 1)); done; echo all' | grep -q '^all$'
}

sockets_that_could_be_connected_elsewhere_are_refused()
{
	"$py" -c '
import socket, subprocess, sys
for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
    for family in socket.AF_INET, socket.AF_INET6, socket.AF_UNIX:
        s = socket.socket(family, kind)
        if subprocess.run([sys.argv[1], "run", "--", "true"], stdin=s, stderr=subprocess.DEVNULL).returncode != 125: sys.exit("%s %s is passed on" % (family, kind))
a, b = socket.socketpair()
sys.exit(subprocess.run([sys.argv[1], "run", "--", "true"], stdin=a).returncode)' "$CORDON"
}

# The same doors, by a command that joins later.
exec_is_as_careful_with_its_stdio()
{
	project
	"$CORDON" run -- sleep 20 &
	local pid=$! id r=0
	sleep 0.7
	id=$("$CORDON" ps -q | head -n 1)
	echo input >"$tmp/input" && chmod 640 "$tmp/input"
	[ "$("$CORDON" exec "$id" -- sh -c 'chmod 777 /dev/stdin /proc/self/fd/0; echo x >/dev/stdin; cat' <"$tmp/input" 2>/dev/null)" = input ] || r=1
	[ "$(stat -c %a "$tmp/input"):$(cat "$tmp/input")" = 640:input ] || r=2
	"$py" -c '
import socket, subprocess, sys
s = socket.socket(); sys.exit(subprocess.run([sys.argv[1], "exec", sys.argv[2], "--", "true"], stdin=s, stderr=subprocess.DEVNULL).returncode != 125)' "$CORDON" "$id" || r=3
	"$CORDON" stop --time 0 "$id"
	wait "$pid"
	echo "step $r"
	return "$r"
}

sockets_of_the_host_are_hidden()
{
	project
	"$py" -c '
import os, socket, subprocess, sys
s = socket.socket(socket.AF_UNIX); s.bind("door"); s.listen()
os.mkfifo("pipe")
code = "import socket\ntry: socket.socket(socket.AF_UNIX).connect(\"door\"); print(\"connected\")\nexcept OSError: pass\ntry: open(\"pipe\", \"r+\"); print(\"opened\")\nexcept OSError: pass"
sys.exit(bool(subprocess.run([sys.argv[1], "run", "--", "/usr/bin/python3", "-c", code], stdout=subprocess.PIPE).stdout))' "$CORDON"
}

events_do_not_follow_a_planted_link()
{
	project
	echo kept >"$tmp/victim"
	run ln -s "$tmp/victim" events.json
	"$CORDON" run --json-events events.json -- true
	[ $? = 125 ] && [ "$(cat "$tmp/victim")" = kept ]
}

events_do_not_wait_for_a_planted_fifo()
{
	project
	run mkfifo events.json
	timeout 10 "$CORDON" run --json-events events.json -- true
	[ $? = 125 ]
}

# Moves what Cordon writes about the run away, or writes it, by every way; says what works.
forge='
for f in out/events.jsonl out/page.html out/learned.yaml; do
	mv $f gone && echo "$f moved"
	echo forged >new; mv -f new $f && echo "$f replaced"
	rm $f && echo "$f removed"
	(echo forged >$f) && echo "$f truncated"
	(echo forged >>$f) && echo "$f appended to"
	ln $f other && echo forged >>other && echo "$f linked"
	ln -sf /dev/null $f && echo "$f is a link"
done
mv out out2 && echo "folder moved"
mv . ../x && echo "work folder moved"
echo free >out/beside && cat out/events.jsonl >seen
'

nobody_forges_what_is_written_about_a_run()
{
	local i
	project
	mkdir out
	for i in 1 2; do
		"$CORDON" run --json-events out/events.jsonl --report out/page.html --learn out/learned.yaml -- sh -c "$forge" >"$tmp/forged" 2>/dev/null
		! grep . "$tmp/forged" || return 1
		[ "$(cat out/beside)" = free ] && [ -s seen ] && rm -f seen out/beside new || return 1
		! grep -qx forged out/* || return 1
		"$CORDON" audit verify out/events.jsonl >"$tmp/verified" || return 1
	done
	cat "$tmp/verified"
	grep -q ' 2 runs' "$tmp/verified" && grep -q '<html' out/page.html && [ -s out/learned.yaml ]
}

# The folder may be another's, too: one that starts meanwhile.
neighbours_do_not_forge_what_is_written_about_a_run()
{
	local first i=0
	project
	mkdir out && mkfifo "$tmp/neighbour"
	"$CORDON" run --json-events out/events.jsonl -- cat <"$tmp/neighbour" &
	first=$!
	exec 7>"$tmp/neighbour"
	while [ ! -s out/events.jsonl ] && [ $((i += 1)) -lt 200 ]; do sleep 0.05; done
	sleep 0.5
	run sh -c 'mv out/events.jsonl gone && echo moved; (echo forged >>out/events.jsonl) && echo written; mv out out2 && echo folder; echo free >out/beside' | grep -E '^(moved|written|folder)$' && i=999
	exec 7>&-
	wait "$first"
	rm -f "$tmp/neighbour"
	[ "$i" -lt 200 ] && [ "$(cat out/beside)" = free ] && "$CORDON" audit verify out/events.jsonl && run sh -c 'mv out/events.jsonl out/old' && [ -s out/old ]
}

# What comes back of a copy is judged by the same.
nobody_forges_it_in_a_copy()
{
	project
	"$CORDON" run --profile strict --json-events events.jsonl -- sh -c 'mv events.jsonl gone; echo forged >events.jsonl; echo x >made' 2>/dev/null
	"$CORDON" apply --force "$("$CORDON" ps -a -q | head -n 1)" && [ -e made ] && "$CORDON" audit verify events.jsonl
}

# What the run makes of the path while it runs: the folder's name leads to the operator's own policies.
learned_policy_stays_in_its_folder()
{
	local option
	for option in learn report; do
		project
		mkdir -p policies "$tmp/elsewhere"
		echo ceiling >"$tmp/elsewhere/policy.yaml"
		timeout 20 "$CORDON" run "--$option" policies/policy.yaml -- sh -c "mv policies moved; ln -s '$tmp/elsewhere' policies"
		[ "$(cat "$tmp/elsewhere/policy.yaml")" = ceiling ] && [ -s moved/policy.yaml ] && [ "$(ls -A moved)" = policy.yaml ] || return 1
		project
		mkdir -p policies
		timeout 20 "$CORDON" run "--$option" policies/policy.yaml -- sh -c "rmdir policies; ln -s '$tmp/elsewhere' policies"
		[ "$(cat "$tmp/elsewhere/policy.yaml")" = ceiling ] && [ "$(ls -A "$tmp/elsewhere")" = policy.yaml ] || return 1
	done
}

pid1_is_not_slowed_down()
{
	project
	[ "$(run /usr/bin/python3 -c '
import os
def tried(f, *a):
    try: f(*a); return "works"
    except OSError: return "refused"
print(tried(os.setpriority, os.PRIO_PROCESS, 1, 19), tried(os.setpriority, os.PRIO_USER, 0, 19), tried(os.sched_setscheduler, 1, os.SCHED_IDLE, os.sched_param(0)), tried(os.sched_setparam, 1, os.sched_param(0)), tried(os.sched_setaffinity, 1, {0}),
      tried(os.setpriority, os.PRIO_PROCESS, 0, 19), tried(os.sched_setscheduler, 0, os.sched_getscheduler(0), os.sched_param(0)))')" = "refused refused refused refused refused works works" ]
}

# An earlier run's links, on the way to what the next one is told to write.
nothing_is_written_through_planted_folders()
{
	local option path
	mkdir -p "$tmp/elsewhere/deep"
	echo ceiling >"$tmp/elsewhere/policy.yaml"
	for option in learn report json-events; do
		for path in out/policy.yaml "$PWD/out/policy.yaml" real/out/policy.yaml out/deep/new.yaml ./out/../elsewhere/policy.yaml; do
			project
			run sh -c "mkdir real; ln -s '$tmp/elsewhere' out; ln -s '$tmp/elsewhere' real/out"
			timeout 20 "$CORDON" run "--$option" "$path" -- true 2>"$tmp/err"
			[ $? = 125 ] && grep -q 'on the way is a link' "$tmp/err" || { echo "--$option $path"; cat "$tmp/err"; return 1; }
			[ "$(cat "$tmp/elsewhere/policy.yaml")" = ceiling ] && [ -z "$(ls -A "$tmp/elsewhere/deep")" ] || return 1
		done
		project
		mkdir -p real/deep
		timeout 20 "$CORDON" run "--$option" ./real//deep/../deep/file -- true && [ -s real/deep/file ] || return 1
	done
	# the system's own
	[ -L /var/run ] || return 0
	timeout 20 "$CORDON" run --json-events /var/run/cordon-test-nonesuch/events -- true 2>"$tmp/err"
	grep -q 'No such file' "$tmp/err"
}

# The run makes nothing under that name, and what another program makes there is replaced by a new file: it is not opened.
learned_policy_replaces_what_was_planted()
{
	local option plant made
	for option in learn report; do
		for plant in "mkfifo out" "ln -s $tmp/victim out" "ln -s /dev/tty out" "cp /etc/hostname out; chmod 444 out"; do
			project
			echo kept >"$tmp/victim"
			timeout 20 "$CORDON" run "--$option" out -- sh -c "$plant" && return 1
			[ -f out ] && [ ! -L out ] || return 1
			project
			timeout 20 "$CORDON" run "--$option" out -- sh -c 'echo x >started; while [ ! -e go ]; do sleep 0.05; done' &
			made=$!
			for _ in $(seq 200); do [ -e started ] && break; sleep 0.05; done
			sh -c "$plant; touch go"
			wait "$made" || return 1
			[ "$(cat "$tmp/victim")" = kept ] && [ -f out ] && [ ! -L out ] && [ "$(stat -c %a out)" = 600 ] || return 1
		done
		project
		timeout 20 "$CORDON" run "--$option" out -- mkdir out
		[ $? = 1 ] && [ -f out ] || return 1
	done
}

every_denial_is_counted()
{
	project
	run sh -c 'i=0; while [ $i -lt 500 ]; do mkdir .vscode 2>/dev/null; i=$((i + 1)); done'
	local id
	id=$("$CORDON" ps -a -q | head -n 1)
	"$CORDON" logs --json "$id" | grep -q '"event":"exit".*"denials":500[,}]'
}

deep_folders_do_not_stop_the_next_run()
{
	project
	run "$py" -c 'import os
for i in range(600): os.mkdir("d"); os.chdir("d")'
	run true
	local r=$?
	rm -rf d
	return "$r"
}

# What write() would take away stays where a shared mapping writes.
programs_that_give_rights_are_not_written_to()
{
	local mode cap=()
	project
	for mode in 4755 4644 2755; do
		cp /bin/true "p$mode" && chmod "$mode" "p$mode" || return 1
	done
	if is_root && cp /bin/true capable && chmod 644 capable && setcap cap_sys_admin+ep capable; then
		cap=(capable)
	fi
	ln p4755 other
	mkdir sub2 && mv other sub2/
	cp /bin/true plain && cp /bin/true nox && chmod 2664 nox
	sha256sum p4755 p4644 p2755 "${cap[@]}" >"$tmp/sums"
	stat -c '%n %a' p4755 p4644 p2755 "${cap[@]}" >"$tmp/modes"
	policy <<-END
	filesystem: {workdir: read-write}
	END
	inside "$py" -c '
import ctypes, mmap, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def tried(what, f):
    try: f()
    except (OSError, ValueError): return
    print(what, "works")
def mapped(path):
    fd = os.open(path, os.O_RDWR)
    mmap.mmap(fd, 0)[0:4] = b"EVIL"
    os.close(fd)
def again(path):
    fd = os.open(path, os.O_RDONLY)
    mapped("/proc/self/fd/%d" % fd)
def linked(path):
    os.link(path, path + ".l")
    try: mapped(path + ".l")
    finally: os.unlink(path + ".l")
for p in sys.argv[1:]:
    tried("map " + p, lambda: mapped(p))
    tried("again " + p, lambda: again(p))
    tried("link " + p, lambda: linked(p))
    tried("append " + p, lambda: os.open(p, os.O_WRONLY | os.O_APPEND))
    if p != "capable":
        tried("truncate " + p, lambda: os.truncate(p, 1))
        tried("O_TRUNC " + p, lambda: os.open(p, os.O_RDONLY | os.O_TRUNC))
        tried("creat " + p, lambda: os.open(p, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o755))
mapped("plain")
mapped("nox") # and then an access list with g+x, which leaves setgid where it is
tried("list", lambda: os.setxattr("nox", "system.posix_acl_access", struct.pack("<I" + "HHI" * 3, 2, 1, 7, 0xffffffff, 4, 7, 0xffffffff, 0x20, 5, 0xffffffff)))
' p4755 p4644 p2755 sub2/other "${cap[@]}"
	[ "$(head -c 4 plain)" = EVIL ] && [ "$(head -c 4 nox)" = EVIL ] || return 1
	[ "$status" = 0 ] && [ -z "$said" ] || [ "$said" = "list works" ] || { echo "$said$told"; return 1; }
	! [ -g nox ] && sha256sum --quiet -c "$tmp/sums" && [ "$(stat -c '%n %a' p4755 p4644 p2755 "${cap[@]}")" = "$(cat "$tmp/modes")" ] && { [ -z "${cap[*]}" ] || [ -n "$(getcap capable)" ]; }
}

# What other users could do in a folder no policy says, and its mode outlives the sandbox.
folders_stay_shut_to_others()
{
	project
	chmod 700 . .git sub && mkdir plain shut && chmod 700 plain shut && ln -s sub link
	policy <<-END
	filesystem: {workdir: read-write}
	END
	inside "$py" -c '
import os, struct
def tried(what, f):
    try: f()
    except OSError: return
    print(what, "works")
acl = struct.pack("<I" + "HHI" * 5, 2, 1, 7, 0xffffffff, 2, 7, 4242, 4, 7, 0xffffffff, 0x10, 7, 0xffffffff, 0x20, 5, 0xffffffff)
fd, path = os.open("sub", os.O_RDONLY), os.open("sub", os.O_PATH)
for mode in 0o777, 0o755, 0o710, 0o2770, 0o701, 0o1720:
    for p in ".", os.getcwd(), "plain/..", "sub", "link", ".git", "/proc/self/cwd", "/proc/self/cwd/sub", "/proc/self/fd/%d" % fd, "/proc/self/fd/%d" % path, "/dev/fd/%d" % fd:
        tried("%o %s" % (mode, p), lambda: os.chmod(p, mode))
    tried("fchmod", lambda: os.fchmod(fd, mode))
    tried("at", lambda: os.chmod("../sub", mode, dir_fd=fd))
for p in ".", "sub", "plain", fd:
    for name in "access", "default":
        tried("list", lambda: os.setxattr(p, "system.posix_acl_" + name, acl))
tried("setuid", lambda: os.chmod("plain", 0o4755))
for name in "metacopy", "redirect", "opaque": # a later run could not read it in its copy of the folder
    tried("overlay", lambda: os.setxattr("plain", "user.overlay." + name, b"y"))
os.chmod("plain", 0o2775) # holds nothing
os.chmod("sub", 0); os.chmod("sub", 0o700)
os.setxattr("plain", "user.note", b"x" * 1000); assert os.getxattr("plain", "user.note") == b"x" * 1000; os.removexattr("plain", "user.note")
'
	printf '%s\n' "$status $said $told"
	[ "$status" = 0 ] && [ -z "$said" ] && [ "$(stat -c %a . .git sub plain | tr '\n' ' ')" = "700 700 700 2775 " ] || return 1
	"$CORDON" logs "$("$CORDON" ps --all --quiet | head -1)" | grep -q 'not opened to other users'
}

ok "folders that cannot be searched are hidden whole, whoever could make them readable" unreadable_folders_stay_hidden
ok "a folder that holds a covered name cannot be moved away from under its cover" a_folder_that_holds_a_covered_name_stays
ok "a denied file is not freed by moving its folder" a_denied_file_is_not_freed_by_moving_its_folder
ok "a folder that cannot be read is not moved to where names are denied" a_folder_that_cannot_be_read_is_not_moved_to_a_denied_place
ok "git finds no configuration by another door" git_finds_no_other_door
ok "no bare repository is planted, whatever part of it comes last" no_bare_repository_is_planted
ok "no bare repository is planted below a folder that is shut, nor too deep to be looked at" no_bare_repository_is_planted_out_of_sight
ok "no symbolic link is hard-linked to where none may be made" no_link_is_linked_where_none_may_be
ok "a socket that could not be bound is not said to be" a_socket_that_was_not_bound_is_not_said_to_be
if is_root && command -v lowntfs-3g mkntfs >/dev/null && [ -e /dev/fuse ]; then
	ok "a file system that takes two spellings for one name is not shown" another_case_is_no_way_around
else
	skip "a file system that takes two spellings for one name is not shown" "root and ntfs-3g are needed for one"
fi
if is_root && [ -e /dev/fuse ]; then
	ok "... nor one that numbers each of them" another_case_with_another_number_is_none_either
else
	skip "... nor one that numbers each of them" "root and /dev/fuse are needed for one"
fi
ok "no repository is planted whose config lies elsewhere, and no .git that is a file" no_repository_is_planted_that_lies_elsewhere
ok "a bare repository of the host keeps its config and hooks" a_bare_repository_of_the_host_is_protected
ok "other version control systems take no orders from the workload" other_version_control_takes_no_orders
ok "two sandboxes in one folder make no protected name together" two_sandboxes_in_one_folder_make_no_protected_name
ok "a submodule's configuration is protected" a_submodules_configuration_is_protected
ok "the guard opens nothing that the caller could not" the_guard_opens_nothing_that_the_caller_could_not
ok "the guard opens nothing of others in /proc, by no way" the_guard_opens_nothing_of_others_in_proc
ok "a shell can write to what is its own in /proc" a_shell_can_write_to_its_own_proc
ok "the guard does not wait where one caller would" the_guard_does_not_wait
ok "a program that was just written can be executed at once" a_new_program_can_be_executed_at_once
ok "sockets that could be connected elsewhere are refused as standard input" sockets_that_could_be_connected_elsewhere_are_refused
ok "cordon exec is as careful with its stdio" exec_is_as_careful_with_its_stdio
ok "sockets and FIFOs of the host in the work folder are hidden" sockets_of_the_host_are_hidden
ok "--json-events does not follow a link that a run has planted" events_do_not_follow_a_planted_link
ok "--json-events does not wait for a FIFO that a run has planted" events_do_not_wait_for_a_planted_fifo
ok "what Cordon writes about a run cannot be written, moved or removed from inside, nor its folder moved; several runs append" nobody_forges_what_is_written_about_a_run
ok "... nor from a sandbox that starts meanwhile in the same folder, until the run has ended" neighbours_do_not_forge_what_is_written_about_a_run
ok "... nor by what comes back of a copy" nobody_forges_it_in_a_copy
ok "--learn and --report write to the folder that was named, whatever its name leads to in the end" learned_policy_stays_in_its_folder
ok "PID 1 cannot be slowed down: priority, scheduler, processors" pid1_is_not_slowed_down
ok "--learn, --report and --json-events write through no folder that an earlier run made a link" nothing_is_written_through_planted_folders
ok "--learn and --report open nothing that was planted meanwhile, which the run itself cannot" learned_policy_replaces_what_was_planted
ok "every denial is counted, however fast they come" every_denial_is_counted
ok "programs with setuid, setgid or capabilities are not written to, by no way; others are" programs_that_give_rights_are_not_written_to
ok "a folder that holds denied or protected names is not opened to other users, by no way" folders_stay_shut_to_others
ok "folders nested too deep do not stop the next run" deep_folders_do_not_stop_the_next_run
finish
