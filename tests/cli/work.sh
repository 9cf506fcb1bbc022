#!/bin/bash
# What people do in a work folder works inside as outside: version control, compilers, archives, and the corners of the file system that programs rely on. Every name
# that is made goes through the guard here, because the policy denies names in a writable folder.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

# An interpreter of the base system: others (in a home folder) are not there inside.
py=/usr/bin/python3
has()
{
	[ -x "/usr/bin/$1" ]
}

policy <<'END'
filesystem: {workdir: read-write, deny: ["**/denied-name"]}
END

# --- names ---

inside_says "a file is made, renamed over another, linked, removed" "new 2" sh -c 'echo old >a; echo new >b; mv -f b a; ln a c; echo $(cat c) $(stat -c %h a); rm a c'
inside_says "folders are made and removed at depth" "" sh -c 'mkdir -p 1/2/3/4/5/6/7/8/9/10/11/12/13/14/15 && rmdir -p 1/2/3/4/5/6/7/8/9/10/11/12/13/14/15'
inside_says "a folder is renamed with what it holds" "x" sh -c 'mkdir -p d/e; echo x >d/e/f; mv d g; cat g/e/f; rm -r g'
inside_says "symbolic links are made, followed and replaced" "two" sh -c 'echo one >1; echo two >2; ln -s 1 l; ln -sfn 2 l; cat l; rm 1 2 l'
inside_says "a file is made through a dangling link" "x" sh -c 'ln -s target l; echo x >l; cat target; rm l target'
inside_says "a link to itself is an error, not a hang" "40" $py -c 'import os,errno
os.symlink("loop","loop")
try: open("loop","w")
except OSError as e: print(e.errno)
os.unlink("loop")'
inside_says "umask is honoured by the guard" "600 700 644 755 600" sh -c 'umask 077; >a; mkdir b; umask 022; >c; mkdir d; umask 0177; mkfifo e; echo $(stat -c %a a b c d e); rm -r a b c d e'
inside_says "a mode that the program asks for is kept" "640 750" $py -c 'import os
os.umask(0); os.close(os.open("m",os.O_CREAT|os.O_WRONLY,0o640)); os.mkdir("n",0o750)
print(oct(os.stat("m").st_mode&0o7777)[2:], oct(os.stat("n").st_mode&0o7777)[2:]); os.unlink("m"); os.rmdir("n")'
inside_says "O_EXCL fails where the file is" "File exists" $py -c 'import os
open("x","w").close()
try: os.open("x",os.O_CREAT|os.O_EXCL|os.O_WRONLY)
except OSError as e: print(e.strerror)
os.unlink("x")'
inside_says "O_NOFOLLOW, O_DIRECTORY and O_TRUNC mean what they mean" "40 20 0" $py -c 'import os
open("f","w").write("full"); os.symlink("f","l"); r=[]
for p,f in (("l",os.O_NOFOLLOW|os.O_WRONLY),("f",os.O_DIRECTORY|os.O_RDONLY)):
    try: os.open(p,f)
    except OSError as e: r.append(e.errno)
os.close(os.open("f",os.O_CREAT|os.O_WRONLY|os.O_TRUNC)); r.append(os.stat("f").st_size); print(*r); os.unlink("f"); os.unlink("l")'
inside_says "openat, mkdirat, renameat and linkat take folder descriptors" "ok" $py -c 'import os
os.mkdir("d"); fd=os.open("d",os.O_RDONLY|os.O_DIRECTORY)
os.mkdir("sub",dir_fd=fd); os.close(os.open("sub/f",os.O_CREAT|os.O_WRONLY,dir_fd=fd)); os.rename("sub/f","g",src_dir_fd=fd,dst_dir_fd=fd); os.link("g","h",src_dir_fd=fd,dst_dir_fd=fd)
os.symlink("g","s",dir_fd=fd); assert sorted(os.listdir("d"))==["g","h","s","sub"]; print("ok")
for n in "g","h","s": os.unlink(n,dir_fd=fd)
os.rmdir("d/sub"); os.rmdir("d")'
inside_says "errors are the usual ones" "ENOENT ENOTDIR EISDIR EEXIST ENOTEMPTY ENAMETOOLONG EEXIST" $py -c 'import os,errno
open("f","w").close(); os.makedirs("d/e"); r=[]
def t(fn,*a):
    try: fn(*a); r.append("ok")
    except OSError as e: r.append(errno.errorcode[e.errno])
t(open,"no/x","w"); t(open,"f/x","w"); t(open,"d","w"); t(os.mkdir,"d"); t(os.rmdir,"d"); t(open,"n"*300,"w"); t(os.symlink,"x","f")
print(*r); os.unlink("f"); os.removedirs("d/e")'
inside_says "RENAME_EXCHANGE and RENAME_NOREPLACE" "b a 17" $py -c 'import ctypes,os
c=ctypes.CDLL(None,use_errno=True)
open("a","w").write("a"); open("b","w").write("b")
assert c.syscall(316,-100,b"a",-100,b"b",2)==0
x=c.syscall(316,-100,b"a",-100,b"b",1); print(open("a").read(),open("b").read(),ctypes.get_errno()); os.unlink("a"); os.unlink("b")'
inside_says "O_TMPFILE, then a name by linkat" "hidden" $py -c 'import os
fd=os.open(".",os.O_TMPFILE|os.O_RDWR,0o644); os.write(fd,b"hidden"); os.link("/proc/self/fd/%d"%fd,"named",src_dir_fd=fd,follow_symlinks=True); print(open("named").read()); os.unlink("named")'
inside_says "flock holds between two processes" "held" sh -c 'flock lock sh -c "flock -n lock true || echo held"; rm lock'
inside_says "fcntl locks hold between two processes" "held" $py -c 'import fcntl,os
f=open("l","w"); fcntl.lockf(f,fcntl.LOCK_EX)
if os.fork()==0:
    try: fcntl.lockf(open("l","w"),fcntl.LOCK_EX|fcntl.LOCK_NB)
    except OSError: os.write(1,b"held\n")
    os._exit(0)
os.wait(); os.unlink("l")'
inside_says "a shared mapping reaches the file and another process" "shared" $py -c 'import mmap,os
f=open("m","w+b"); f.truncate(4096); m=mmap.mmap(f.fileno(),4096)
if os.fork()==0: m[:6]=b"shared"; os._exit(0)
os.wait(); print(open("m","rb").read(6).decode()); os.unlink("m")'
inside_says "sparse files stay sparse" "1073741824 yes" sh -c 'truncate -s 1G s; echo $(stat -c %s s) $([ $(stat -c %b s) -lt 100 ] && echo yes); rm s'
inside_says "fallocate, truncate, copy_file_range" "ok" $py -c 'import os
a=os.open("a",os.O_CREAT|os.O_RDWR,0o644); b=os.open("b",os.O_CREAT|os.O_RDWR,0o644); os.write(a,b"x"*5000); os.lseek(a,0,0)
n=os.copy_file_range(a,b,5000); os.posix_fallocate(b,0,8192); os.ftruncate(b,10); print("ok" if n==5000 and os.stat("b").st_size==10 else n); os.unlink("a"); os.unlink("b")'
inside_says "timestamps and modes can be set" "2001-01-01 600" sh -c '>t; touch -d 2001-01-01 t; chmod 600 t; echo $(stat -c %y t | cut -c1-10) $(stat -c %a t); rm t'
inside_says "extended attributes of the user, or the file system's own no" "ok" $py -c 'import os
open("x","w").close()
try:
    os.setxattr("x","user.k",b"v"); print("ok" if os.getxattr("x","user.k")==b"v" else "lost")
except OSError as e: print("ok" if e.errno in (95,) else e)
os.unlink("x")'
inside_says "inotify sees what the guard made" "seen" $py -c 'import ctypes,os,select
c=ctypes.CDLL(None); fd=c.inotify_init(); c.inotify_add_watch(fd,b".",0x100)
open("seen","w").close(); r,_,_=select.select([fd],[],[],2); print(os.read(fd,100)[16:20].decode() if r else "nothing"); os.unlink("seen")'
# of what the host gives a user, who has other programs and other sandboxes
most=$(($(cat /proc/sys/fs/inotify/max_user_instances) / 8))
[ "$most" -le 64 ] || most=64
inside $py -c 'import ctypes
c=ctypes.CDLL(None); n=0
while c.inotify_init()>=0: n+=1
print(n)'
ok "a sandbox has an eighth of its user's inotify instances at most" [ "${said:-999}" -le "$most" ]

# --- sockets and FIFOs ---

inside_says "a UNIX socket in the work folder is bound and connected" "pong" $py -c 'import os,socket
s=socket.socket(socket.AF_UNIX); s.bind("sock"); s.listen()
if os.fork()==0:
    c=socket.socket(socket.AF_UNIX); c.connect("sock"); c.send(b"pong"); os._exit(0)
print(s.accept()[0].recv(9).decode()); os.unlink("sock")'
inside_says "a UNIX socket under an absolute path, and one that is taken" "98" $py -c 'import os,socket
p=os.path.abspath("s2"); a=socket.socket(socket.AF_UNIX); a.bind(p)
try: socket.socket(socket.AF_UNIX).bind(p)
except OSError as e: print(e.errno)
os.unlink(p)'
inside_says "abstract, unnamed and internet sockets are bound as ever" "ok" $py -c 'import socket
socket.socket(socket.AF_UNIX).bind(b"\0name"); socket.socket(socket.AF_UNIX).bind(""); s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(); c=socket.socket(); c.connect(s.getsockname()); print("ok")'
inside_says "a socket's name says where it is" "name" $py -c 'import socket,os
s=socket.socket(socket.AF_UNIX); s.bind("name"); print(s.getsockname()); os.unlink("name")'
inside_says "a FIFO that two processes open, the reader first" "through" sh -c 'mkfifo f; cat f & sleep 0.1; echo through >f; wait; rm f'
inside_says "a FIFO that two processes open, the writer first" "through" sh -c 'mkfifo f; echo through >f & sleep 0.1; cat f; wait; rm f'
inside_says "a FIFO that nobody reads can be given up" "interrupted" sh -c 'mkfifo f; timeout 0.3 sh -c "echo x >f" ; echo interrupted; rm f'
inside_says "and the guard goes on meanwhile" "made" sh -c 'mkfifo f; (echo x >f) & echo made >g; cat g; cat f >/dev/null; wait; rm f g'
inside_says "a process substitution" "a b" bash -c 'echo $(cat <(echo a) <(echo b))'
inside_says "a here-document and a large here-string" "100001" bash -c 'cat <<<"$(head -c 100000 /dev/zero | tr "\0" x)" | wc -c'

# --- many at once ---

inside_says "64 threads make 20 files each" "1280" $py -c 'import os,threading
os.mkdir("t")
def w(i):
    for k in range(20):
        with open(f"t/{i}-{k}","w") as f: f.write("x")
v=[threading.Thread(target=w,args=(i,)) for i in range(64)]
[t.start() for t in v]; [t.join() for t in v]; print(len(os.listdir("t")))
[os.unlink("t/"+n) for n in os.listdir("t")]; os.rmdir("t")'
inside_says "30 processes make files and folders side by side" "600" sh -c 'for i in $(seq 30); do (mkdir p$i; for k in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo x >p$i/$k; done) & done; wait; find p* -type f | wc -l; rm -r p*'
cat >many.py <<'END'
import os,sys,time
os.mkdir("many"); t=time.monotonic()
for i in range(10000): os.close(os.open("many/%d"%i,os.O_CREAT|os.O_WRONLY,0o644))
print("%d" % ((time.monotonic()-t)*1000), len(os.listdir("many")))
for i in range(10000): os.unlink("many/%d"%i)
os.rmdir("many")
END
outside $py many.py
plain=${said%% *}
inside $py many.py
quick_enough()
{
	echo "outside $plain ms, inside $said ms, stderr: $told"
	[ "$status" = 0 ] && [ "${said##* }" = 10000 ] && [ "${said%% *}" -lt $((10 * plain + 3000 * ${CORDON_TEST_SLOW:-1})) ]
}
ok "10,000 files are made in bounded time (outside ${plain:-?} ms, inside ${said%% *} ms)" quick_enough
rm many.py
deep_tree()
{
	inside "$py" -c 'import os
for i in range(200): os.mkdir("d"); os.chdir("d")
open("f","w").write("x")
for i in range(200): os.chdir("..")
n=0
for _ in os.walk("d"): n+=1
print(n)'
	[ "$said" = 200 ] || { echo "got $said $told"; return 1; }
	inside sh -c 'find d -type f | wc -l; rm -r d'
	[ "$said" = 1 ] && [ ! -e d ]
}
ok "a tree of 200 levels" deep_tree
cat >signals.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
static volatile unsigned ticks;
static void tick(int sig) { (void)sig; ticks++; }
int main(void)
{
	struct itimerval every = {{0, 200}, {0, 200}};
	struct sigaction sa = {.sa_handler = tick, .sa_flags = SA_RESTART};
	char name[32], other[32];
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		snprintf(other, sizeof(other), "r%d", i);
		int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
		if (fd < 0 || close(fd) < 0 || rename(name, other) < 0 || mkdir(name, 0755) < 0 || rmdir(name) < 0 || unlink(other) < 0) {
			printf("%d: %s\n", i, strerror(errno));
			return 1;
		}
	}
	printf("%s\n", ticks ? "undisturbed" : "no signal came");
	return 0;
}
END
if has cc && cc -O1 -o signals signals.c 2>"$tmp/cc"; then
	for i in 1 2 3; do
		inside_says "signals while names are made disturb nobody ($i)" undisturbed ./signals
	done
else
	skip "signals while names are made disturb nobody" "no C compiler"
fi
rm -f signals signals.c

mkdir grouped && chmod 2775 grouped
inside_says "in a folder with setgid modes are set and copied as outside" "2755 2750 2755 755 644" sh -ec 'cd grouped; mkdir a b; chmod 755 a; chmod 750 b; cp -a a c; >f; chmod +x f; >g; chmod 644 g; stat -c %a a b c f g | tr "\n" " " | sed "s/ $//"'
rm -r grouped

# --- tools ---

if has git; then
	git init -q repo && (cd repo && git config user.email t@example.test && git config user.name T && echo one >f && git add f && git commit -qm one) || exit 99
	cd repo || exit 99
	git_config=$(sha256sum <.git/config)
	inside_says "git status" "" git status --short
	inside_works "git add, commit, branch, merge, log" sh -ec 'echo two >g; git add g; git commit -qm two; git checkout -qb side; echo 3 >h; git add h; git commit -qm three; git checkout -q -; git merge -q side; git log --oneline'
	is "and the commits are on the host" "$(git log --oneline 2>&1 | wc -l)" 3
	inside_works "git stash, reset, rebase, gc, fsck" sh -ec 'echo x >>f; git stash -q; git stash pop -q; git reset -q --hard; git gc -q; git fsck 2>&1'
	is "the repository's configuration is as it was" "$(sha256sum <.git/config)" "$git_config"
	inside_fails "it cannot be changed inside" 'could not (lock|write) config|Permission denied|Read-only|busy' git config core.pager evil
	inside_fails "and no hook can be made" 'Permission denied|Read-only' sh -c 'echo evil >.git/hooks/pre-commit'
	is "nothing of it is left" "$(find .git/hooks -type f ! -name '*.sample'; git config core.pager)" ""
	inside_works "git clone and git worktree within" sh -ec 'git clone -q . /tmp/clone; cd /tmp/clone; echo z >z; git add z; git -c user.name=a -c user.email=a@example.test commit -qm z'
	git config core.sharedRepository group && chmod -R g+w .git && find .git -type d -exec chmod g+s {} +
	inside_works "git add and commit in a repository that a group shares" sh -ec 'echo s >s; git add s; git commit -qm s'
	cd "$work" || exit 99
else
	skip "git status, add, commit" "no git"
fi
if has gcc && has make; then
	mkdir make
	for i in $(seq 24); do echo "int f$i(void); int f$i(void) { return $i; }" >"make/f$i.c"; done
	printf 'int f1(void); int main(void) { return f1() - 1; }\n' >make/main.c
	cat >make/Makefile <<'END'
objs := $(patsubst %.c,%.o,$(wildcard *.c))
prog: $(objs)
	gcc -o $@ $^
%.o: %.c
	gcc -O1 -c -o $@ $<
END
	inside_works "make -j8 with gcc builds a program" make -C make -s -j8
	inside_works "which runs" make/prog
	inside_says "and a second make finds nothing to do" "" sh -c 'make -C make -q && true'
else
	skip "make -j8 with gcc builds a program" "no gcc or make"
fi
inside_says "python3 with its caches" "ok" sh -c 'mkdir mod; echo "x = 1" >mod/__init__.py; /usr/bin/python3 -c "import mod, json, tempfile, subprocess; tempfile.mkdtemp(dir=\".\"); subprocess.run([\"true\"], check=True); print(\"ok\")"; ls mod/__pycache__ >/dev/null; rm -r mod tmp*'
if has node; then
	inside_says "node" "ok 3" node -e 'const fs=require("fs"); fs.mkdirSync("n/m",{recursive:true}); fs.writeFileSync("n/m/f","abc"); fs.renameSync("n/m/f","n/g"); console.log("ok", fs.statSync("n/g").size); fs.rmSync("n",{recursive:true})'
else
	skip "node" "not installed"
fi
if has node; then
	inside_says "a server of node's, at an address that is named: interfaces cannot be listed" "ok ERR_SYSTEM_ERROR" node -e 'const s=require("http").createServer().listen(0,"127.0.0.1",()=>{let e; try{require("os").networkInterfaces()}catch(x){e=x.code} console.log("ok",e); s.close()})'
fi
if has java; then
	inside_says "java, and its ZGC with a heap below max_file_size" "ok" sh -c 'java -XX:+UseZGC -XX:MaxRAM=1g -version 2>/dev/null && echo ok'
else
	skip "java, and its ZGC with a heap below max_file_size" "not installed"
fi
inside_works "tar, cp -a and a sync by mtime keep a tree" sh -ec 'mkdir -p src/a/b; echo 1 >src/a/f; ln -s a/f src/l; ln src/a/f src/h; mkfifo src/p; chmod 750 src/a/b; tar cf t.tar src; mkdir x; tar xf t.tar -C x; cp -a src y; cp -au src/. y/; diff -r --no-dereference -x p src x/src; diff -r --no-dereference -x p src y; test -p y/p; test $(stat -c %a x/src/a/b) = 750; rm -r src x y t.tar'
inside_works "sed -i, sort -o, split, install, patch-like replacements" sh -ec 'seq 100 >s; sed -i s/1/x/ s; sort -o s s; split -l 10 s part; install -m 755 s bin; test $(ls part* | wc -l) = 10; rm s part* bin'
inside_works "sqlite in the work folder" $py -c 'import sqlite3
c=sqlite3.connect("db"); c.execute("pragma journal_mode=wal"); c.execute("create table t(x)"); c.executemany("insert into t values(?)",[(i,) for i in range(1000)]); c.commit(); assert c.execute("select sum(x) from t").fetchone()[0]==499500; c.close()
import os; os.unlink("db")'
inside_says "find over /usr sees no error" "" sh -c 'find /usr/share -maxdepth 2 >/dev/null; find . -name nothing'
inside_works "a program that starts 200 children" sh -c 'for i in $(seq 200); do /bin/true; done'
inside_says "threads, futexes and shared memory" "4 ok" $py -c 'import multiprocessing as m
def f(x): return x*x
if __name__=="__main__":
    with m.Pool(2) as p: print(p.map(f,[2])[0], "ok")'
inside_says "time, random numbers and locale" "ok" sh -c 'date >/dev/null && head -c 8 /dev/urandom >/dev/null && locale >/dev/null && echo ok'
# --- where /proc is covered in part, as containers have it, no other can be mounted ---

covered=(unshare --mount --pid --fork --kill-child --mount-proc)
[ "$(id -u)" = 0 ] || covered=("${covered[@]}" --user --map-root-user)
if "${covered[@]}" mount -t tmpfs none /proc/bus 2>/dev/null && [ "$(printf '6.9\n%s\n' "$(uname -r)" | sort -V | head -1)" = 6.9 ]; then
	outside "${covered[@]}" sh -c 'mount -t tmpfs none /proc/bus && exec "$@"' sh "$CORDON" run --policy "$tmp/policy.yaml" -- /usr/bin/python3 -c '
import os, threading
def work():
    os.mkdir("of-a-thread")
    fd = os.open("of-a-thread/file", os.O_CREAT | os.O_WRONLY, 0o600)
    os.fchmod(fd, 0o755)
    os.chmod("of-a-thread/file", 0o644)
    print("works")
t = threading.Thread(target=work); t.start(); t.join()'
	is "a thread makes names and sets modes without a /proc of the sandbox" "$status:$said${told:+ (stderr: $told)}" 0:works
	rm -rf of-a-thread
else
	skip "a thread makes names and sets modes without a /proc of the sandbox" "this machine cannot cover /proc, or its kernel knows no thread by a pidfd"
fi

finish
