#!/bin/bash
# process.allow_exec and process.deny_exec hold however a program is started, and what is allowed still runs.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

py=/usr/bin/python3
real=$(readlink -f "$py")
loader=
for l in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do
	[ ! -e "$l" ] || loader=$l
done
target=/usr/bin/id # it prints "uid="

# cannot NAME CMD...: it does not print what the program prints, and does not end well.
cannot()
{
	inside "${@:2}" </dev/null
	ok "$1" did_not_run
}

did_not_run()
{
	printf 'status %s\nout: %s\nerr: %s\n' "$status" "$said" "$told"
	[[ $status != 0 || -z $said ]] && ! [[ $said =~ uid= ]]
}

# --- deny_exec ---

policy <<END
filesystem: {workdir: read-write}
process: {deny_exec: ["$target", "$real", "$py"]}
END
inside_works "deny_exec: other programs run" sh -c 'ls / >/dev/null && cat /etc/passwd >/dev/null'
cannot "deny_exec: directly, by its full path" $target
is "deny_exec: Cordon says 126" "$status" 126
cannot "deny_exec: by a search in PATH" id
cannot "deny_exec: from a shell" sh -c "$target"
cannot "deny_exec: from a shell, by PATH" sh -c id
cannot "deny_exec: by env, xargs, find, timeout" sh -c "env id; echo | xargs id; find / -maxdepth 0 -exec id ';'; timeout 5 id; nice id"
cannot "deny_exec: through a symbolic link" sh -c "ln -s $target l; ./l"
cannot "deny_exec: a hard link" sh -c "ln $target h && ./h"
cannot "deny_exec: a copy" sh -c "cp $target c && chmod +x c && ./c"
cannot "deny_exec: a copy in /tmp" sh -c "cat $target >/tmp/c && chmod +x /tmp/c && /tmp/c"
cannot "deny_exec: under another spelling" sh -c '/usr/../usr/./bin//id'
cannot "deny_exec: through /bin, which is the same folder" /bin/id
cannot "deny_exec: through /proc/self/root" sh -c "/proc/self/root$target"
[ -z "$loader" ] || cannot "deny_exec: by the loader" "$loader" $target
cannot "deny_exec: read into a shell pipe" sh -c "cat $target | head -c 4"
printf '#!%s\nprint("uid=ran")\n' "$py" >script
chmod +x script
cannot "deny_exec: a script whose interpreter is denied" ./script
cannot "deny_exec: ... given to env" sh -c "printf '#!/usr/bin/env python3\nprint(\"uid=ran\")' >s2; chmod +x s2; ./s2"
cannot "deny_exec: the interpreter under the name of its link" "$py" -c 'print("uid=ran")'
rm -f l h c script s2

policy <<END
filesystem: {workdir: read-write}
process: {deny_exec: ["**/evil-tool"]}
END
cp /usr/bin/id evil-tool
cannot "deny_exec: a pattern, in the work folder" ./evil-tool
cannot "deny_exec: a pattern, a program made inside" sh -c 'mkdir d; cp /usr/bin/id d/evil-tool && d/evil-tool'
cannot "deny_exec: a pattern, renamed to it" sh -c 'cp /usr/bin/id x && mv x evil-tool2 && mv evil-tool2 d/evil-tool && d/evil-tool'
cannot "deny_exec: a denied program cannot be renamed into an allowed one" sh -c 'mv evil-tool fine && ./fine'
cannot "deny_exec: nor linked to" sh -c 'ln evil-tool fine && ./fine'
cannot "deny_exec: nor copied" sh -c 'cp evil-tool fine && ./fine'
like "deny_exec: the program is still on the host" "$(./evil-tool)" 'uid='
rm -rf evil-tool d x fine
ln -s /usr/bin/id hidden-behind
policy <<END
filesystem: {workdir: read-write}
process: {deny_exec: ["/usr/bin/i[d]"]}
END
cannot "deny_exec: a pattern with a set" id
cannot "deny_exec: through a link on the host" ./hidden-behind
rm -f hidden-behind

# Names that lead elsewhere: a link, one behind another, a folder that is a link.
why_not()
{
	outside "$CORDON" why --policy "$tmp/policy.yaml" --exec "$1"
	[ "$status" = 1 ] && [[ $said =~ process.deny_exec ]]
}
awk=$(command -v awk)
for name in "$py" /bin/id /bin/sh "$awk" /usr/bin/pager '/bin/i[d]' '**/python3' '/bin/**'; do
	[[ $name == *'*'* || $name == *'['* || -e $name ]] || continue
	policy <<-END
	filesystem: {workdir: read-write}
	process: {deny_exec: ["$name"]}
	END
	case $name in
	'**/python3') leads=$real ;;
	'/bin/**' | '/bin/i[d]') leads=$target ;;
	*) leads=$(readlink -f "$name") ;;
	esac
	inside "${leads}" --version </dev/null
	is "deny_exec $name: what the name leads to does not run" "$status:$said" "126:"
	like "deny_exec $name: the line names the rule" "$told" "denied by process.deny_exec .* \(.*policy.yaml:3\)"
	ok "deny_exec $name: and why says so" why_not "$leads"
	outside "$CORDON" run --dry-run --policy "$tmp/policy.yaml" -- true
	like "deny_exec $name: and the plan" "$(tr -s "\n " "  " <"$tmp/out")" "hidden: process.deny_exec [^:]*($leads|/usr/bin[ ,])"
	if [[ $leads != */dash && $name != '/bin/**' ]]; then
		cannot "deny_exec $name: nor from a shell, by any of its names" sh -c "PATH=/bin:/usr/bin:/sbin; $leads --version; ${leads##*/} --version; ${leads#/usr} --version; cp $leads x && ./x --version"
		rm -f x
	fi
done
policy <<END
filesystem: {workdir: read-write}
process: {deny_exec: [$py], allow_exec: [/bin/sh, $py]}
END
if has_landlock; then
	cannot "deny_exec: a link to a program that allow_exec lists" $py -c 'print("uid=ran")'
	cannot "deny_exec: ... by its own name" "$real" -c 'print("uid=ran")'
fi
mkdir "$tmp/tools"
cp /usr/bin/id "$tmp/tools/id-1.2"
ln -s id-1.2 "$tmp/tools/id"
policy <<END
filesystem: {workdir: read-write, read: ["$tmp/tools"]}
process: {deny_exec: ["$tmp/tools/id"]}
END
cannot "deny_exec: a link in a folder that is shown" "$tmp/tools/id"
cannot "deny_exec: what it leads to" "$tmp/tools/id-1.2"
inside_works "deny_exec: its neighbours run" /usr/bin/id
rm -r "$tmp/tools"

# --- allow_exec ---

if ! has_landlock; then
	policy <<-END
	process: {allow_exec: [/bin/sh]}
	END
	inside /bin/sh -c 'echo ran'
	like "allow_exec: a list is refused where Landlock is missing, and says so" "$status $told" '^125 cordon: .*allow_exec.*Landlock'
	finish
	exit
fi

policy <<END
filesystem: {workdir: read-write}
process: {allow_exec: [/bin/sh, /usr/bin/dash, /usr/bin/env, /usr/bin/cat, /usr/bin/ls, /usr/bin/cp, /usr/bin/chmod, /usr/bin/ln, "$py", "$real"]}
END
inside_says "allow_exec: a listed program runs" "x" sh -c 'echo x | cat'
inside_works "allow_exec: a dynamic program with its libraries" ls /
inside_says "allow_exec: an interpreter that loads libraries" "ok" $py -c 'import json, zlib, socket; print("ok")'
inside_says "allow_exec: and modules of its own" "ok" $py -c 'import ssl, _ctypes, sqlite3; print("ok")'
java=$(readlink -f /usr/bin/java)
if [ -x "$java" ] && [ "${java#/usr/lib/jvm/}" != "$java" ]; then
	inside "$java" -version
	is "allow_exec: a program that lies among an interpreter's modules and is not listed" "$status:$said" "126:"
	if [ -n "$loader" ]; then
		inside "$loader" "$java" -version
		like "allow_exec: nor by the loader" "$status:$told" '^[1-9][0-9]*:.*Permission denied'
	fi
fi
printf '#!/bin/sh\necho script ran\n' >script
chmod +x script
cp /usr/bin/id mine
cannot "allow_exec: one that is not listed" id
is "allow_exec: Cordon says 126" "$status" 126
cannot "allow_exec: not listed, from a shell" sh -c /usr/bin/id
cannot "allow_exec: not listed, in the work folder" ./mine
cannot "allow_exec: a copy made inside" sh -c 'cp /usr/bin/id c && chmod +x c && ./c'
cannot "allow_exec: a copy in /tmp" sh -c 'cp /usr/bin/id /tmp/c && chmod +x /tmp/c && /tmp/c'
cannot "allow_exec: a copy in the home folder" sh -c 'cp /usr/bin/id ~/c && chmod +x ~/c && ~/c'
cannot "allow_exec: a copy in /dev/shm" sh -c 'cp /usr/bin/id /dev/shm/c && chmod +x /dev/shm/c && /dev/shm/c'
cannot "allow_exec: a copy under a listed program's name" sh -c 'cp /usr/bin/id cat && chmod +x cat && ./cat'
cannot "allow_exec: a copy over a listed program" sh -c 'cp /usr/bin/id /usr/bin/cat; /usr/bin/cat </dev/null; false'
cannot "allow_exec: a symbolic link with a listed name" sh -c 'ln -s /usr/bin/id cat && ./cat'
cannot "allow_exec: a hard link" sh -c 'ln mine ./ls && ./ls'
[ -z "$loader" ] || cannot "allow_exec: by the loader" "$loader" /usr/bin/id
[ -z "$loader" ] || cannot "allow_exec: by the loader, a copy in the work folder" "$loader" ./mine
[ -z "$loader" ] || cannot "allow_exec: by the loader, from a shell" sh -c "$loader ./mine"
cannot "allow_exec: by memfd and fexecve" $py -c 'import os
fd=os.memfd_create("x",0); os.write(fd,open("/usr/bin/id","rb").read()); os.execve(fd,["id"],{})'
cannot "allow_exec: by memfd and /proc/self/fd" $py -c 'import os
fd=os.memfd_create("x",0); os.write(fd,open("/usr/bin/id","rb").read()); os.execv("/proc/self/fd/%d"%fd,["id"])'
cannot "allow_exec: by execveat and an empty path" $py -c 'import os,ctypes
fd=os.open("/usr/bin/id",os.O_RDONLY); c=ctypes.CDLL(None)
c.syscall(322,fd,b"",(ctypes.c_char_p*2)(b"id",None),(ctypes.c_char_p*1)(None),0x1000)
raise SystemExit(1)'
cannot "allow_exec: by O_TMPFILE" $py -c 'import os
fd=os.open(".",os.O_TMPFILE|os.O_RDWR,0o755); os.write(fd,open("/usr/bin/id","rb").read()); r=os.open("/proc/self/fd/%d"%fd,os.O_RDONLY); os.close(fd); os.execv("/proc/self/fd/%d"%r,["id"])'
inside_says "allow_exec: /proc/self/exe of a listed program is that program" "again" $py -c 'import os,sys
os.execv("/proc/self/exe",[sys.executable,"-c","print(\"again\")"])'
cannot "allow_exec: an executable mapping of a file in the work folder" $py -c 'import mmap
f=open("mine","rb"); mmap.mmap(f.fileno(),4096,flags=mmap.MAP_PRIVATE,prot=mmap.PROT_READ|mmap.PROT_EXEC); print("uid=mapped")'
printf '#!/usr/bin/id\n' >listed-not
chmod +x listed-not
cannot "allow_exec: a script with an interpreter that is not listed" ./listed-not
inside_says "allow_exec: a script as data of a listed interpreter" "script ran" sh ./script
rm -rf mine c cat ls script listed-not
if [ -x "$java" ]; then
	policy <<-END
	process: {allow_exec: [/usr/bin/java]}
	END
	inside /usr/bin/java -version
	ok "allow_exec: one that is listed runs there, with its libraries" succeeded
fi
policy <<END
filesystem: {workdir: read-write}
process: {allow_exec: [/bin/sh, /usr/bin/dash, /usr/bin/mv, "$work/tool", "$work/bin/*"]}
END
cp /usr/bin/id tool
mkdir bin
cp /usr/bin/id bin/one
cp /usr/bin/id other
inside ./tool
ok "allow_exec: a program of the work folder can be listed" succeeded
inside bin/one
ok "allow_exec: and a folder of them" succeeded
cannot "allow_exec: its neighbour cannot" ./other
cannot "allow_exec: a listed program cannot be replaced by another" sh -c 'mv other tool && ./tool'
rm -rf tool bin other
policy <<END
filesystem: {workdir: read-write}
process: {allow_exec: [/bin/sh, /usr/bin/dash, "/usr/bin/*"], deny_exec: [/usr/bin/id]}
END
inside_works "allow_exec with a pattern" sh -c 'ls / >/dev/null'
inside id
ok "deny_exec wins over allow_exec" did_not_run
mkdir bin
ln -s /usr/bin/id bin/tool
cp /usr/bin/id bin/own
policy <<END
filesystem: {workdir: read-write}
process: {allow_exec: [/bin/sh, "$work/bin/*"]}
END
inside sh -c 'bin/tool || /usr/bin/id'
is "allow_exec: a link of the repository makes no program of the system a listed one" "$status:$said" "126:"
inside_works "allow_exec: its own program is one" bin/own
policy <<END
filesystem: {workdir: read-write}
process: {allow_exec: [/bin/sh, "$work/bin/*", /usr/bin/id]}
END
inside_works "allow_exec: what the link leads to is one where it is listed itself" bin/tool
rm -r bin
policy <<END
filesystem: {workdir: read-write}
process: {allow_exec: ["**/tool"]}
END
inside true
ok "allow_exec: a list that cannot be enforced is refused" refused 125 'allow_exec'
policy <<END
filesystem: {workdir: read-write}
process: {allow_exec: []}
END
inside /bin/true
like "allow_exec: an empty list allows nothing" "$status" '^12[56]$'
finish
