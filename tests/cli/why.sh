#!/bin/bash
# What `cordon why` says is what holds: each path is asked about, and tried in a sandbox of the same policy.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/run_lib.sh
. "$(dirname "$0")/../run_lib.sh"

# Reads "TRIES PATH" a line, and prints the same with what can be done: r, w, x, or - in its place. Writing a folder is making a file in it.
cat >"$tmp/try.sh" <<'END'
can() {
	case $1 in
	r) if [ -d "$2" ]; then ls "$2/" >/dev/null; else exec <"$2"; fi ;;
	w)
		if [ -d "$2" ]; then
			{ : >"$2/.tried"; } && rm -f "$2/.tried"
		elif [ -e "$2" ]; then
			{ exec >>"$2"; }
		else
			{ : >"$2"; } && rm -f "$2"
		fi
		;;
	x) "$2" </dev/null >/dev/null; [ $? -lt 126 ] ;;
	esac
}
while read -r tries path; do
	got=
	for t in r w x; do
		case $tries in *$t*) if (can $t "$path") 2>/dev/null; then got=$got$t; else got=$got-; fi ;; esac
	done
	echo "$got $path"
done
END

# says TRIES PATH: the same, as why has it.
says()
{
	local t got=
	for t in r w x; do
		[[ $1 == *$t* ]] || continue
		case $t in
		r) "$CORDON" why --policy "$tmp/policy.yaml" --path "$2" ;;
		w) "$CORDON" why --policy "$tmp/policy.yaml" --path "$2" --write ;;
		x) "$CORDON" why --policy "$tmp/policy.yaml" --exec "$2" ;;
		esac >>"$tmp/said" 2>&1
		case $? in 0) got+=$t ;; 1) got+=- ;; *) got+='?' ;; esac
	done
	echo "$got $2"
}

# agree WHAT <<END: lines of TRIES PATH; one promise each.
agree()
{
	local i path tries got
	cat >"$tmp/table"
	# the script stands in nothing that is shown: it comes as an argument
	"$CORDON" run --policy "$tmp/policy.yaml" -- sh -c "$(cat "$tmp/try.sh")" <"$tmp/table" >"$tmp/tried" 2>"$tmp/err"
	mapfile -t lines <"$tmp/tried"
	i=0
	while read -r tries path; do
		: >"$tmp/said"
		got=$(says "$tries" "$path")
		is "$1: $tries $path" "$got" "${lines[i]:-no run: $(cat "$tmp/err")}"
		[ "$got" = "${lines[i]}" ] || sed 's/^/# /' "$tmp/said"
		i=$((i + 1))
	done <"$tmp/table"
}

away=()
trap 'rm -rf "${away[@]}"; tap_cleanup' EXIT

# --- what the table is about

true=$(readlink -f "$(type -P true)")
ext=$tmp/ext
mkdir -p "$ext"/{ro,rw/keep,rw/sub/ro,links} src deep/a/secrets hooks .git/hooks bare/{objects,refs} way .vscode nowhere
git init -q . 2>/dev/null || mkdir -p .git/objects .git/refs
mkdir -p .git/hooks
printf '[core]\n\thooksPath = hooks\n[include]\n\tpath = ../more.config\n' >>.git/config
echo 'ref: x' | tee bare/HEAD >bare/config
for f in src/main.c deep/a/secrets/key deep/a/x.pem .env src/.env hooks/pre-commit .git/hooks/pre-push more.config .envrc .gitmodules way/file .vscode/tasks.json plain "$ext/ro/f" "$ext/rw/f" "$ext/rw/keep/f" "$ext/rw/sub/ro/f" "$ext/rw/sub/f" \
	"$HOME/.bashrc" "$tmp/t/f"; do
	echo x >"$f"
done
mkdir -p "$HOME/.ssh" "$HOME/shown" && echo x >"$HOME/.ssh/id" && echo x >"$HOME/shown/f"
cp "$true" prog && cp "$true" "$ext/rw/prog" && cp "$true" tool && cp "$true" hidden-tool && ln hidden-tool other-name && ln deep/a/secrets/key key-by-another-name
echo '#!/bin/sh' >script && chmod +x script
ln -s src/main.c link && ln -s deep/a/secrets/key link-to-secret && ln -s /etc/shadow link-out && ln -s prog link-to-prog && ln -s hidden-tool link-to-hidden && ln -s "$ext/rw" link-to-rw && ln -s /nowhere dangling && ln -s src link-to-folder
mkfifo fifo
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("sock")' 2>/dev/null || mkfifo sock

base()
{
	cat <<-END
	r /
	rw /tmp
	rw $tmp
	r /etc/passwd
	w /etc/passwd
	r /etc/hosts
	r /etc/shadow
	r /etc/sudoers
	r /etc/machine-id
	r /etc
	w /etc
	w /etc/new
	rw /etc/ssl/certs
	rw /usr
	rw /usr/bin
	rwx $true
	rwx /bin/true
	w /usr/bin/new
	w /new
	rw /var
	rw /var/tmp
	w /var/tmp/new
	rw /run
	rw /home
	rw /root
	rw /proc
	r /proc/1/status
	r /proc/1/environ
	r /proc/self/status
	w /proc/self/comm
	r /proc/cpuinfo
	r /proc/kcore
	r /proc/kallsyms
	r /proc/cmdline
	r /proc/keys
	w /proc/sysrq-trigger
	w /proc/sys/kernel/hostname
	rw /dev
	rw /dev/null
	rw /dev/zero
	rw /dev/full
	r /dev/urandom
	rw /dev/shm
	w /dev/shm/new
	r /dev/mem
	r /dev/kmsg
	w /dev/new
	r /sys
	r /sys/kernel
	rw $HOME
	r $HOME/.ssh/id
	r $HOME/.bashrc
	w $HOME/new
	w $HOME/.bashrc
	r $tmp/t/f
	w /tmp/new
	END
}

work()
{
	cat <<-END
	rw $work
	rw $work/plain
	w $work/new
	rw $work/src
	rw $work/src/main.c
	w $work/src/new
	r $work/.env
	w $work/.env
	w $work/src/deeper.env
	rw $work/src/.env
	rw $work/deep
	rw $work/deep/a
	rw $work/deep/a/secrets
	rw $work/deep/a/secrets/key
	w $work/deep/a/secrets/new
	rw $work/deep/a/x.pem
	w $work/deep/a/new.pem
	rw $work/key-by-another-name
	rw $work/hooks
	rw $work/hooks/pre-commit
	w $work/hooks/new
	rw $work/more.config
	rw $work/.git
	rw $work/.git/config
	rw $work/.git/hooks
	w $work/.git/hooks/new
	w $work/.git/new
	rw $work/.gitmodules
	rw $work/.envrc
	rw $work/.vscode/tasks.json
	w $work/.vscode/new
	w $work/.mcp.json
	w $work/src/.bashrc
	rw $work/bare
	rw $work/bare/config
	w $work/bare/hooks
	rw $work/way
	rw $work/way/file
	rw $work/link
	rw $work/link-to-folder/main.c
	w $work/link-to-folder/new
	rw $work/link-to-secret
	r $work/link-out
	rw $work/link-to-rw
	rw $work/link-to-rw/f
	rw $work/sock
	rw $work/fifo
	rwx $work/prog
	rx $work/link-to-prog
	rx $work/script
	x $work/plain
	rwx $work/hidden-tool
	rwx $work/other-name
	rx $work/link-to-hidden
	rwx $ext/rw/prog
	rw $ext
	rw $ext/ro
	rw $ext/ro/f
	w $ext/ro/new
	rw $ext/rw
	rw $ext/rw/f
	w $ext/rw/new
	rw $ext/rw/keep
	rw $ext/rw/keep/f
	w $ext/rw/keep/new
	rw $ext/rw/sub/f
	rw $ext/rw/sub/ro/f
	w $ext/rw/sub/ro/new
	rw $HOME/shown
	rw $HOME/shown/f
	w $HOME/shown/.bashrc
	w $tmp/policy.yaml
	END
}

rules()
{
	policy <<-END
	filesystem:
	  workdir: $1
	  read: ["$ext/ro", "$ext/rw/keep", "$ext/rw/sub/ro", "~/shown", "$ext/none"]
	  write: ["$ext/rw", "$ext/nowhere"]
	  deny: ["$work/**/secrets", "$work/**/*.pem", "$work/way/file/denied", "/usr/share/doc"]
	END
}

rules read-write
agree "the base system" < <(base)
agree "read-write" < <(work)
rules copy
agree "copy" < <(work)
rules read-only
agree "read-only" < <(work)
rules none
agree "no work folder" <<END
r $work
r $work/plain
r $work/.env
x $work/prog
rw $ext/rw/f
rw $ext/ro/f
END

# Entries in entries, by links, for single files and by patterns that float; the run's own files.
mkdir -p "$ext/a/b/c" "$ext/data" src/vendor/x closed "$HOME/lent" && ln -s "$ext/data" "$HOME/lent/link" && ln -s data "$ext/here"
for f in "$ext/a/f" "$ext/a/b/f" "$ext/a/b/c/f" "$ext/data/f" "$ext/one" "$ext/two" src/vendor/x/f closed/f .cordon-apply-1; do
	echo x >"$f"
done
chmod 000 closed
mkdir -p "$XDG_CONFIG_HOME/cordon" && echo secret >"$work/token" && printf 'version: 1\ncredentials: {c: {from: {file: %s}, hosts: [a.example], inject: {bearer: true}}}\n' "$work/token" >"$XDG_CONFIG_HOME/cordon/credentials.yaml"
policy <<END
filesystem:
  workdir: read-write
  read: ["$ext/a", "$ext/a/b/c", "$ext/one", "~/lent/link", "src/vendor", "**/frozen", "$work/deep/*/x.pem"]
  write: ["$ext/a/b", "$ext/two", "$ext/here"]
END
cp "$tmp/policy.yaml" policy.yaml
mkdir -p frozen && echo x >frozen/f
agree "entries in entries" <<END
rw $ext/a/f
w $ext/a/new
rw $ext/a/b/f
w $ext/a/b/new
rw $ext/a/b
rw $ext/a/b/c/f
w $ext/a/b/c/new
rw $ext/one
rw $ext/two
w $ext/other
rw $HOME/lent
rw $HOME/lent/link
rw $HOME/lent/link/f
w $HOME/lent/link/new
r $ext/data/f
rw $ext/here/f
w $ext/here/new
rw $work/src/vendor
rw $work/src/vendor/x/f
w $work/src/vendor/new
rw $work/frozen/f
w $work/frozen/new
w $work/src/frozen
rw $work/deep/a/x.pem
w $work/deep/a/new.pem
rw $work/closed/f
r $work/token
r $work/.cordon-apply-1
w $work/.cordon-apply-2
r $XDG_CONFIG_HOME/cordon/credentials.yaml
rw $tmp/policy.yaml
END
chmod 700 closed
rm -r "$XDG_CONFIG_HOME/cordon"
policy <<END
filesystem: {workdir: read-write, write: ["~"], deny: ["~/.ssh"]}
END
agree "a home that is shown" <<END
rw $HOME
rw $HOME/shown/f
w $HOME/new
rw $HOME/.bashrc
w $HOME/.profile
rw $HOME/.ssh/id
w $HOME/.ssh/new
r $HOME/lent/link
END

# A pattern that floats, and deny_exec below, cost a walk through the base system each time: few questions.
policy <<END
filesystem: {workdir: read-write, deny: ["**/secrets", "**/dangling", "/bin/ls"]}
END
agree "patterns that float, and a link" <<END
r deep/a/secrets/key
r key-by-another-name
w src/secrets
w dangling
x /bin/ls
r /usr/bin/ls
END

# --- programs

policy <<END
filesystem: {workdir: read-write}
process: {deny_exec: ["$work/hidden-tool", /bin/cat]}
END
agree "deny_exec" <<END
x $work/hidden-tool
rw $work/other-name
x $work/link-to-hidden
x $work/prog
r /bin/cat
x /usr/bin/cat
END
outside "$CORDON" why --policy "$tmp/policy.yaml" --exec ./other-name
like "deny_exec: another name of a denied program: the rule is told" "$status $said" '^1 .*process.deny_exec .*hidden-tool'

# The kernel starts a script's interpreter: that must be allowed, too, and so must the interpreter of one that is a script.
scripts()
{
	printf '#! \t%s -e\nexit 0\n' /bin/bash >by-bash
	printf '#!%s\n' "$work/by-bash" >by-script
	printf '#!/usr/bin/env bash\nexit 0\n' >by-env
	printf '#!/bin/sh\nexit 0\n' >by-sh
	printf '#!by-sh\n' >by-relative
	printf '#!\nexit 0\n' >by-nobody
	ln -sf by-bash link-to-script
	chmod +x by-*
}
scripts
policy <<END
filesystem: {workdir: read-write}
process: {deny_exec: [/usr/bin/bash]}
END
agree "scripts, with an interpreter that is denied" <<END
x $work/by-bash
x $work/by-script
x $work/link-to-script
x $work/by-sh
x $work/by-relative
END
outside "$CORDON" why --policy "$tmp/policy.yaml" --exec ./by-script
like "... which is told, and where the rule stands" "$status $(tr '\n' ' ' <"$tmp/out")" "^1 no: ./by-script .*by-bash is a script for /bin/bash.*rule: process.deny_exec /usr/bin/bash .*policy.yaml:3"
outside "$CORDON" why --policy "$tmp/policy.yaml" --exec ./by-env
like "... and of env, that it is env what is started" "$status $said" '^0 .*by-env is a script for /usr/bin/env, which may be executed'
inside ./by-env </dev/null
is "... as it is: env is what does not find a program then" "$status" 126

# Links in the user's own folder are trusted, those of the work folder are not.
ln -s "$work/prog" "$HOME/shown/mine"
ln -s "$ext/rw/prog" theirs
ln prog prog-again
policy <<END
filesystem: {workdir: read-write, read: ["~/shown"], write: ["$ext/rw"]}
process: {allow_exec: [/bin/sh, /bin/ls, /bin/rm, "~/shown/mine", "$work/theirs", "$work/tool", "$work/plain", "$work/by-bash", "$work/by-sh", "$work/by-relative"]}
END
inside /bin/sh -c :
if [[ $told == *"needs Landlock"* ]]; then
	skip "allow_exec" "this kernel lacks Landlock"
else
agree "allow_exec" <<END
rx /bin/sh
x $(readlink -f /bin/sh)
x /bin/ls
x $true
rx $HOME/shown/mine
rwx $work/prog
x $work/prog-again
x $work/link-to-prog
x $work/theirs
x $ext/rw/prog
x $work/tool
x $work/plain
x $work/script
x $work/hidden-tool
x $work/by-bash
x $work/by-sh
x $work/by-relative
END
outside "$CORDON" why --policy "$tmp/policy.yaml" --exec "$work/prog"
like "allow_exec: what a listed link leads to may run, and the key is told" "$status $said" '^0 .*process.allow_exec'
fi

# --- what the user's git is told

printf '[core]\n\thooksPath = my-hooks\n' >"$HOME/.gitconfig"
mkdir -p my-hooks src/my-hooks
policy <<END
filesystem: {workdir: read-write}
END
agree "hooks of the user's git" <<END
w $work/my-hooks/pre-commit
w $work/src/my-hooks/x
w $work/new/my-hooks
rw $work/hooks/pre-commit
w $work/src/other
END
outside "$CORDON" why --policy "$tmp/policy.yaml" --path hooks/pre-commit --write
like "a folder of core.hooksPath: the rule is told, and that no policy lifts it" "$status $(tr '\n' ' ' <"$tmp/out")" '^1 .*rule: .*(hooksPath|core.hooks|git).*No policy can allow it'
rm "$HOME/.gitconfig"

# --- where a sandbox has a place of its own, or a link to one

for place in /var/tmp /tmp /dev/shm; do
	far=$(mktemp -d "$place/cordon-why.XXXXXX") || continue
	away+=("$far")
	mkdir -p "$far/work/.vscode" "$far/work/.git" "$far/other" && cd "$far/work" || exit 99
	cp "$true" prog && echo x | tee .env plain .vscode/tasks.json .git/config "$far/other/f" >/dev/null
	policy <<-END
	filesystem: {workdir: read-write}
	END
	agree "a work folder below $place" <<-END
	rw plain
	w new
	rw .env
	rw .git/config
	rw .vscode/tasks.json
	rwx $far/work/prog
	r $far
	w $far/new
	r $far/other/f
	w $place/new
	w /tmp/new
	w /var/tmp/new
	END
	cd "$work" || exit 99
	agree "none below $place" <<-END
	w /var/tmp/new
	END
	[ "$place" = /dev/shm ] && continue # of which a policy can show nothing
	policy <<-END
	filesystem: {workdir: read-write, read: ["$far/other"]}
	END
	agree "a folder below $place that the policy shows" <<-END
	rw $far/other/f
	w $far/other/new
	w $far/new
	w /var/tmp/new
	rw /var/tmp
	END
	outside env HOME="$far/work" "$CORDON" why --policy "$tmp/policy.yaml" --path "$far/work/new" --write
	is "a home below $place: what may be written" "$status" "$(HOME=$far/work "$CORDON" run --policy "$tmp/policy.yaml" -- sh -c ": >'$far/work/new'" 2>/dev/null; echo $?)"
done

# --- a folder that is no work folder

cd "$HOME" || exit 99
agree "home is where one stands" <<END
rw $HOME
r $HOME/.bashrc
r $HOME/shown/f
w $HOME/new
w $HOME/.bashrc
r .ssh/id
END
outside "$CORDON" why --policy "$tmp/policy.yaml" --path shown/f
like "... and why says that" "$status $said" '^1 .*is your home folder'
outside "$CORDON" why --policy "$tmp/policy.yaml" --workdir "$HOME" --path shown/f
like "a run that is refused allows nothing, and that is said" "$status $said" '^1 .*No run would start: .*is your home folder'
outside "$CORDON" why --policy "$tmp/policy.yaml" --workdir "$HOME" --path /srv/none
like "... of what the policy denies, too" "$status $said" '^1 .*No run would start: .*is your home folder'
printf 'version: 1\nprocess: {user: 0}\n' >"$tmp/refused.yaml"
outside "$CORDON" why --policy "$tmp/refused.yaml" --path shown/f
like "... where another folder would not help, either" "$status $said" '^1 .*No run would start: process.user'
cd "$work" || exit 99

# --- a name that is closed, by which a link leads to what is open

mkdir -p open && ln -s open closed-name
cat >"$tmp/opened.yaml" <<END
version: 1
filesystem: {workdir: read-only, write: [$PWD/open]}
END
outside "$CORDON" why --policy "$tmp/opened.yaml" --path closed-name/new --write --json
like "what a link leads to is told, and by which rule it is open" "$status $said" "^0 .*\"target\":\"$PWD/open/new\".*\"rule\":\"filesystem.write $PWD/open\".*\"text\":\"$PWD/open/new may be written"

# --- the folder above, where a link leads there

mkdir -p up/deep && echo x >up/secret && echo x >up/open && echo x >secret && ln -s up/deep leads
printf 'version: 1\nfilesystem: {workdir: read-write, deny: [up/secret]}\n' >"$tmp/above.yaml"
outside "$CORDON" why --policy "$tmp/above.yaml" --path leads/../secret --json
like "behind a link .. is what is above its end" "$status $said" "^1 .*\"target\":\"$PWD/up/secret\".*filesystem.deny"
is "... as it is inside" "$("$CORDON" run --policy "$tmp/above.yaml" -- sh -c 'cat leads/../secret || echo no' 2>/dev/null)" no
for path in leads/../open ./leads/./../deep/../open up/deep/.././open "$PWD/leads/../open"; do
	outside "$CORDON" why --policy "$tmp/above.yaml" --path "$path" --json
	like "$path may be read" "$status $said" "^0 .*\"target\":\"$PWD/up/open\""
done

# --- how it is asked and said

# shellcheck disable=SC2088 # as they stand
for path in '~' '~/' '~/shown/../.bashrc'; do
	outside "$CORDON" why --policy "$tmp/policy.yaml" --path "$path" --json
	like "$path is the home folder's, as in a policy" "$said" "\"target\":\"$HOME(/.bashrc)?\""
done
# shellcheck disable=SC2088 # a folder of that name
mkdir -p '~' && echo x >'~/x'
outside "$CORDON" why --policy "$tmp/policy.yaml" --path './~/x'
like "./~ is a folder of that name" "$status $said" '^0 '
outside "$CORDON" why --path /etc/shadow --json
like "what is hidden of /etc is hidden by a rule" "$said" '"answer":"deny","rule":"built in /etc","from":"built in"'
outside "$CORDON" why --path /proc/kcore
like "what is hidden of /proc, too, and no policy shows it" "$(tr '\n' ' ' <"$tmp/out")" 'rule: built in /proc/kcore .*No policy can allow it'
for ask in '--path plain' '--path hooks/pre-commit --write' '--exec ./prog' '--path /srv/none'; do
	# shellcheck disable=SC2086 # words
	outside "$CORDON" why --policy "$tmp/policy.yaml" $ask --json
	is "why --json $ask has all keys" "$(grep -o '"[a-z]*":' "$tmp/out" | tr -d '":\n' | sed s/access//)" "asktargetanswerrulefromtexthint"
done
outside "$CORDON" policy check strict
is "a home below /tmp is no scratch space: the shipped profiles pass their tests" "$status" 0

finish
