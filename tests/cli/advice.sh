#!/bin/bash
# What Cordon says to somebody who begins: where a name, a folder or a rule is not what was meant, it says so, and what helps.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

# lacks TEXT REGEX
lacks()
{
	printf 'got: %s\nwhich matches: %s\n' "$1" "$2"
	! [[ $1 =~ $2 ]]
}

config=$tmp/config/cordon
mkdir -p "$config/profiles"

# --- names that are not read ---

printf 'version: 1\nprocess: {timeout: 1m}\n' >"$config/policy.yml"
outside "$CORDON" run -- true
ok "a ceiling that is called policy.yml is refused, not passed over" refused 125 'policy\.yml: is not read under this name; rename it to policy\.yaml'
rm "$config/policy.yml"
outside "$CORDON" run -- true
is "... and once it is gone a run starts" "$status" 0
ln -s nowhere "$config/policy.yml"
outside "$CORDON" run -- true
ok "... also where that run is remembered, and the name is a link that leads nowhere" refused 125 'rename it to policy\.yaml'
printf 'version: 1\n' >"$config/policy.yaml"
outside "$CORDON" run -- true
is "... beside one with the right name it is nobody's" "$status:$told" 0:
rm "$config/policy.yml" "$config/policy.yaml"
policy <<'END'
network: {mode: allowlist, allow: [{host: example.test}]}
END
for name in credentials gateway; do
	printf 'version: 1\n' >"$config/$name.yml"
	inside true
	ok "$name.yml is refused where $name.yaml is read" refused 125 "$name\\.yml: is not read under this name; rename it to $name\\.yaml"
	rm "$config/$name.yml"
done
printf 'version: 1\n' >"$config/profiles/mine.yml"
outside "$CORDON" run --profile mine -- true
ok "so is a profile" refused 125 'profiles/mine\.yml: is not read under this name; rename it to mine\.yaml'
rm "$config/profiles/mine.yml"
printf 'version: 1\n' >p.yaml
for name in p.yaml ./p.yaml; do
	outside "$CORDON" run --profile "$name" -- true
	ok "--profile with the path of a file ($name) names the option that takes it" refused 125 "\"$name\" is no profile's name; a file is named with --policy $name\$"
done
outside "$CORDON" run -p strict -- true
ok "--policy with the name of a profile names the option that takes it" refused 125 'strict: there is no such file; did you mean --profile strict\?'
printf 'version: 1\nextends: [./none.yaml]\n' >p.yaml
outside "$CORDON" run -p p.yaml -- true
ok "a file that extends nothing names what it looked for once" refused 125 'p\.yaml:2:11: extends: \./none\.yaml: there is no such file'
printf 'version: 1\nnetwrok: {}\n' >typo.yaml
printf 'version: 1\nextends: [./typo.yaml]\n' >p.yaml
outside "$CORDON" run -p p.yaml -- true
ok "... and an error in one that it extends has a path without ./ in it" refused 125 '/work/typo\.yaml:2:1: '
rm p.yaml typo.yaml

# --- homes ---

policy <<'END'
filesystem: {workdir: read-write}
END
own=$(getent passwd "$(id -u)" | cut -d: -f6,7)
case $own in *nologin | *false) own= ;; *) own=$(realpath "${own%:*}" 2>/dev/null) ;; esac
if [ -n "$own" ] && [ -d "$own" ] && cd "$own" 2>/dev/null; then
	outside "$CORDON" run -- sh -c 'pwd; ls -A . | wc -l'
	like "with another HOME the own home is no work folder, nor is anything of it there" "$told:$said" 'home folder of a user of this machine.*running without a work folder.*:.*'
	ok "... its files neither" [ "${said##*$'\n'}" != "$(find "$own" -mindepth 1 -maxdepth 1 | wc -l)" ]
	cd "$work" || exit 99
	outside "$CORDON" run --workdir "$own" -- true
	ok "... and named on purpose it is refused" refused 125 "--workdir $own is the home folder of a user of this machine"
else
	skip "with another HOME the own home is no work folder, nor is anything of it there" "this user has none"
fi
# with accounts of the suite's own: ann's home is a link, bob's account is of a daemon
mkdir -p "$tmp/homes/ann/project" "$tmp/homes/bob" "$tmp/homes/sue/project"
ln -s homes "$tmp/linked"
printf 'root:x:0:0::/:/bin/bash\nme:x:%s:0::/nonexistent:/bin/bash\nann:x:%s:1::%s:/bin/bash\nbob:x:%s:1::%s:/usr/sbin/nologin\nbroken:%s\n' "$(id -u)" "$(id -u)" "$tmp/linked/ann" "$(id -u)" "$tmp/homes/bob" "$tmp/homes" >"$tmp/passwd"
# from DIR CMD...: cordon there, with these accounts.
from()
{
	# shellcheck disable=SC2016
	outside unshare -m sh -c 'mount --bind "$1" /etc/passwd && cd "$2" && shift 2 && exec "$@"' sh "$tmp/passwd" "$1" "$CORDON" run "${@:2}"
}
if is_root && unshare -m true 2>/dev/null; then
	from "$tmp/homes/ann" -- true
	like "root in another user's home has no work folder, though a link leads there" "$status:$told" '^0:.*is the home folder of a user of this machine, and holds their secrets: running without'
	from "$tmp/homes" -- true
	like "... nor in a folder that holds it" "$status:$told" '^0:.*holds the home folder of a user'
	from "$tmp/homes/ann/project" -- sh -c 'echo x >made; pwd'
	is "... a project below it is one" "$status:$said:$told:$(cat "$tmp/homes/ann/project/made")" "0:$tmp/homes/ann/project::x"
	from "$tmp/homes/bob" -- pwd
	is "... as is the folder of an account that nobody logs in to" "$status:$said:$told" "0:$tmp/homes/bob:"
	from "$tmp/homes/ann" -w . -- true
	ok "... and named on purpose it is refused" refused 125 '--workdir .*/ann is the home folder'
	HOME=$tmp/homes/ann from "$tmp/homes/ann/project" -- pwd
	is "... with HOME there its projects are as ever" "$status:$said:$told" "0:$tmp/homes/ann/project:"
else
	skip "root in another user's home has no work folder, though a link leads there" "only root sees them"
fi
cd "$tmp/homes/sue" || exit 99
SUDO_HOME=$tmp/homes/sue outside "$CORDON" run -- true
like "the home of who called sudo is no work folder" "$status:$told" '^0:.*is the home folder of a user of this machine'
cd "$work" || exit 99

policy <<'END'
filesystem: {write: ["~"]}
END
inside true
like "a rule that shows the whole home is named with its line" "$status:$told" '^0:cordon: .*policy\.yaml:2:[0-9:]* *filesystem\.write: .*/home shows your whole home, with the keys and logins in it'
outside "$CORDON" policy check "$tmp/policy.yaml"
like "... by check as well" "$told" 'warning: .*filesystem\.write: .* shows your whole home'
outside "$CORDON" policy explain "$tmp/policy.yaml"
like "... and explain says nothing else" "$said" 'Your whole home is shown'
ok "... of a home that is empty" lacks "$said" 'rest of your home|It has a home'
# shellcheck disable=SC2088 # Cordon's tilde
for pattern in '~/**' '~/*' '~/.*'; do
	policy <<<"filesystem: {read: [\"$pattern\"]}"
	inside true
	like "... however it is written ($pattern)" "$told" 'shows your whole home'
done
policy <<'END'
filesystem: {read: ["~/.ssh", "~/a*", "~/x/**"]}
END
inside true
is "a rule that names what it shows is not" "$status:$told" 0:

# --- what comes later wins ---

printf 'version: 1\nextends: [default]\n' >g.yaml
outside "$CORDON" run --profile strict -p g.yaml -- true
like "a file behind a profile that shuts the work folder says so where it opens it" "$status:$told" "^0:cordon: .*filesystem\\.workdir: read-write takes the place of profile strict's, which is copy: what comes later wins"
outside "$CORDON" run -p g.yaml --profile strict -- true
is "... in front of it there is nothing to say" "$status:$told" 0:
outside "$CORDON" run --profile strict --profile strict -p g.yaml -- true
is "... and it is said once" "$(grep -c 'takes the place' "$tmp/err")" 1
rm g.yaml

# --- a ceiling, and the profiles that are shipped ---

printf 'version: 1\nfilesystem: {read: [], write: []}\nnetwork: {mode: none}\nprocess: {memory: 4G}\n' >"$config/policy.yaml"
outside "$CORDON" run --profile claude -- true
ok "a shipped profile that a ceiling shuts out is not to be edited" refused 125 'add it to the ceiling, which may extend this profile, or use another profile'
outside "$CORDON" run -- true
is "... one that needs no further folder runs" "$status" 0
printf 'version: 1\nextends: [claude, build]\nnetwork: {mode: none}\nprocess: {memory: 4G}\n' >"$config/policy.yaml"
for profile in default strict build claude; do
	outside "$CORDON" run --profile "$profile" -- true
	is "... and $profile under a ceiling that extends those" "$status" 0
done
outside "$CORDON" run --profile codex -- true
ok "... but no other" refused 125 'outside what the ceiling opens .*use another profile'
printf 'version: 1\nfilesystem: {read: [/srv/x]}\n' >mine.yaml
outside "$CORDON" run -p mine.yaml -- true
ok "a file of one's own is" refused 125 'mine\.yaml.*remove it or ask the operator'
rm "$config/policy.yaml" mine.yaml

# --- git in a first session ---

# at_tty CMD...: with a terminal; sets said.
at_tty()
{
	outside timeout 30 "$tests_dir/tools/at_terminal.py" -- "$@"
	said=$(tr -d '\r\0' <"$tmp/out")
}
if [ -x /usr/bin/git ] && /usr/bin/python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
	me=(-c user.name=T -c user.email=t@example.test)
	git init -q repo && (cd repo && mkdir -p sub/deep && echo one >f && git add f && git "${me[@]}" commit -qm one && git worktree add -q "$work/wt") 2>"$tmp/git" || exit 99
	cd repo || exit 99
	at_tty "$CORDON" run -- git status --short
	is "at the top of a repository git works, and nothing is said" "$status:$said" 0:
	cd sub/deep || exit 99
	at_tty "$CORDON" run -- git status --short
	like "below it the start says where the repository is" "$said" "note: git finds no repository inside: it is $work/repo, above the work folder; run from there"
	outside "$CORDON" run -- true
	is "... to a terminal only" "$told" ""
	cd "$work/wt" || exit 99
	at_tty "$CORDON" run -- git status --short
	like "in a linked worktree it says what that leads to" "$said" "note: git finds no repository inside: $work/wt/\.git leads to $work/repo/\.git, which the sandbox does not have; name it in filesystem\.write"
	policy <<<"filesystem: {write: [$work/repo/.git]}"
	at_tty "$CORDON" run -p "$tmp/policy.yaml" -- git status --short
	is "... which helps" "$status:$said" 0:
	inside git "${me[@]}" commit -q --allow-empty -m two
	is "... for commits too" "$status:$(git log --oneline | wc -l)" 0:2
	printf '[user]\nname = Ann\nemail = ann@example.test\n' >"$HOME/.gitconfig"
	policy <<<"filesystem: {write: [$work/repo/.git], read: [\"~/.gitconfig\"]}"
	inside git commit -q --allow-empty -m three
	is "... and a name to commit under is shown by ~/.gitconfig" "$status:$(git log -1 --format=%an)" 0:Ann
	cd "$work" || exit 99
	mkdir -p odd && printf 'gitdir: /nonexistent\n' >odd/.git && ln -s /etc/passwd linked
	cd odd || exit 99
	at_tty "$CORDON" run -- true
	is "a file .git that leads nowhere is not spoken of" "$status:$said" 0:
	rm .git && mkfifo .git
	at_tty "$CORDON" run -- true
	is "... and one that is a pipe is not waited for" "$status:$said" 0:
	cd "$work" || exit 99
	rm -rf repo wt odd linked
else
	skip "at the top of a repository git works, and nothing is said" "no git, no python3, or no pseudo-terminals here"
fi

# --- what is not there, or not what was meant ---

if ! is_root; then
	mkdir -p "$tmp/many/open" "$tmp/many/shut" && chmod 0 "$tmp/many/shut"
	policy <<<"filesystem: {read: [\"$tmp/many/*\"]}"
	inside true
	ok "a wildcard that meets a folder which cannot be searched names the rule, and what helps" refused 125 "filesystem\.read .*many/shut: Permission denied: .*leave it out of the rule, or, where it is not yours, name it in filesystem\.deny"
	policy <<<"filesystem: {read: [\"$tmp/many/o*\"]}"
	inside_works "... and it does" true
	chmod 700 "$tmp/many/shut"
else
	skip "a wildcard that meets a folder which cannot be searched names the rule, and what helps" "root can search all"
fi
mkdir moved && cd moved && echo one >f && "$CORDON" run --profile strict -- sh -c 'echo two >f' && cd .. && mv moved other || exit 99
id=$(runs | head -n 1)
for verb in diff apply; do
	outside "$CORDON" "$verb" "$id"
	ok "$verb after the work folder got another name says that the changes are kept, and what helps" refused 125 "work folder $work/moved: is not there any more; the changes are kept, in .*/$id/[a-z/]+: move the folder back"
done
mv other moved && outside "$CORDON" apply "$id"
is "... and it does" "$status:$(cat moved/f)" 0:two
rm -r moved
cp "${CORDON%/*}/cordon" "$work/cordon" && cp "${CORDON%/*}/cordon-init" "$work/"
outside "$CORDON" run -- ./cordon run -- true
if is_sanitized; then
	skip "inside a sandbox Cordon says that it is in one" "not static here"
else
	like "inside a sandbox Cordon says that it is in one" "$status:$told" '^125:.*this is a sandbox already'
fi
rm -f cordon cordon-init
outside "$CORDON" image import x "$tests_dir/lib.sh"
ok "what cannot be imported is named" refused 125 "import: .*lib\.sh: "
mkdir task && printf 'x\n' >task/task.toml
outside "$CORDON" task check task/task.toml
ok "a task is named by its folder, and its file is told so" refused 125 'task/task\.toml: is not a folder; name the task.s folder'
outside "$CORDON" task run task --agent orcale
ok "an agent's name that is nearly right has a guess" refused 125 'there is no agent orcale; did you mean oracle\?'
outside "$CORDON" task run task --agent cordon
ok "a model that is missing is told before anything is built" refused 125 'agent cordon needs a model'
outside "$CORDON" task show task/out
ok "a folder of --out is no result's id, and is said to have its own" refused 125 'result\.json and report\.html'
rm -r task
printf 'version: 1\ncredentials: {x: {from: {env: X}, hosts: ["https://a.test"], inject: {bearer: true}}}\n' >"$config/credentials.yaml"
policy <<'END'
network: {mode: allowlist, allow: [{host: a.test, credential: x}]}
END
inside true
ok "a URL in the place of a credential's host is told without keys that are not there" refused 125 'is a URL; write the host alone$'
printf 'version: 1\ncredentials: {x: {from: {env: X}, hosts: [b.test], inject: {bearer: true}}}\n' >"$config/credentials.yaml"
X=1 inside true
like "a credential that is bound to another host is told at the start" "$told" 'credential x would never be sent: credentials\.yaml binds it to b\.test'
rm "$config/credentials.yaml"

finish
