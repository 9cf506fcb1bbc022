#!/bin/bash
# What people do with a policy: check, show, explain, test, diff, import, why and env, and the shipped profiles.
. "$(dirname "$0")/../lib.sh"

# Below /tmp everything is the sandbox's own, so a home there would prove nothing. It need not exist.
export HOME=/nonexistent/ann
[ -e /nonexistent ] || made=/nonexistent # by root's runs, for what they remember; an ordinary user cannot
unset XDG_CONFIG_HOME XDG_CACHE_HOME XDG_STATE_HOME
mkdir -p "$tmp/work" "$tmp/config/cordon"
cd "$tmp/work" || exit 99

run()
{
	"$CORDON" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
}

# exits NAME STATUS ARG...: cordon ends with the status.
exits()
{
	local name=$1 want=$2
	shift 2
	run "$@"
	is "$name" "$status" "$want"
	[ "$status" = "$want" ] || sed 's/^/# /' "$tmp/out" "$tmp/err"
}

prints()
{
	like "$1" "$(cat "$tmp/out")" "$2"
}

says()
{
	like "$1" "$(cat "$tmp/err")" "$2"
}

# The one JSON document on stdout has this value at this place.
json()
{
	is "$1" "$(python3 -c 'import json,sys
v = json.load(open(sys.argv[1]))
for k in sys.argv[2].split("."):
    v = v[int(k)] if isinstance(v, list) else v[k]
print(json.dumps(v))' "$tmp/out" "$2" 2>&1)" "$3"
}

# --- profiles

for name in default strict build claude codex gemini opencode aider task; do
	exits "profile $name is valid and keeps its own promises" 0 policy check "$name"
	prints "profile $name: ok" "^$name: ok\$"
	exits "profile $name passes its tests" 0 policy test "$name"
	like "profile $name opens with a comment on what it allows" "$(head -n 4 "$tests_dir/../profiles/$name.yaml")" '^# '$name': .*# Allows: '
done
exits "the default profile never allows more than build" 0 policy diff build default
exits "strict never allows more than default" 0 policy diff default strict
exits "default allows more than strict" 1 policy diff strict default
for agent in claude codex gemini opencode aider; do
	exits "$agent has no network" 1 why --profile "$agent" --host example.com
	exits "$agent may work in the work folder" 0 why --profile "$agent" --path src/x.c --write
done

# --- check

cat >p.yaml <<'Y'
version: 1
extends: [default]
filesystem:
  read: [/opt/tools, ./vendor]
  write: ["~/.cache/pip"]
  deny: ["~/.cache/pip/secret", "**/*.pem"]
network:
  mode: allowlist
  allow:
    - host: pypi.org
      methods: [GET, HEAD]
      paths: ["/simple/**"]
    - {host: "*.example.com", ports: [8443]}
    - {cidr: 10.1.2.0/24, ports: [5432]}
  deny: [{host: bad.example.com}]
process:
  deny_exec: [/usr/bin/nc]
  env: {set: {GREETING: "hi: # there"}, pass: [EDITOR]}
inference:
  providers:
    anthropic: {credential: anthropic, models: ["claude-*"], max_requests: 5}
tests:
  - allow: {host: pypi.org, method: GET, path: /simple/x}
  - deny: {host: pypi.org, method: POST}
  - deny: {write: ./vendor/x}
Y
exits "a good file is ok" 0 policy check p.yaml
prints "FILE: ok" '^p.yaml: ok$'
exits "check --json" 0 policy check --json p.yaml
json "check --json: ok" ok true
json "check --json: tests" tests.passed 3

sed 's/deny: {write: .*/allow: {write: .\/vendor\/x}/' p.yaml >failing.yaml
printf 'version: 1\ninference: {providers: {anthropic: {}}, routes: [{model: "local-*", provider: vllm}]}\n' >route.yaml
exits "a route to a provider that another file may add is ok" 0 policy check route.yaml
exits "... but nothing goes there yet" 1 why --model local-1 --policy route.yaml
exits "a failing test of the policy's own fails the check" 1 policy check failing.yaml
prints "the failing test is named with its line" 'FAIL failing.yaml:25  allow: \{write: /workdir/vendor/x\}'
prints "and the rule behind the answer with its line" 'by filesystem.read /workdir/vendor \(failing.yaml:4\)'

printf 'version: 1\nnetwrok: {}\n' >typo.yaml
exits "an unknown key is an error" 125 policy check typo.yaml
says "with file, line, column and a guess" 'typo.yaml:2:1: .*network'
exits "an error in JSON" 125 policy check --json typo.yaml
json "is a document as well" ok false
# refuses NAME YAML REGEX: the policy is refused, and the message matches.
refuses()
{
	printf 'version: 1\n%s\n' "$2" >refused.yaml
	exits "$1 is refused" 125 policy check refused.yaml
	says "$1: it says what to do" "$3"
}
refuses "a pattern that starts with * and has no quotes" 'filesystem: {read: [**/x]}' 'refused.yaml:2:21: a value that starts with \* must be in quotes'
refuses "a tab for indentation" $'filesystem:\n\tread: [/x]' 'refused.yaml:3:1: is a tab, .*write blanks'
refuses "a tab behind blanks" $'filesystem:\n  read: [/x]\n \t write: [/y]' 'refused.yaml:4:2: is a tab'
refuses "a pattern that looks like an alias" 'filesystem: {read: [*x]}' 'refused.yaml:2:21: .*starts with \* must be in quotes'
refuses "memory too small for anything to start" 'process: {memory: 1}' 'process.memory: "1" is too small.*at least 1M'
refuses "memory just below the least" 'process: {memory: 1023K}' 'at least 1M'
refuses "a sandbox of one process" 'process: {max_processes: 1}' 'process.max_processes: "1" is too small.*at least 2'
printf 'version: 1\nprocess: {memory: 1M, max_processes: 2}\n' >small.yaml
exits "the least memory and processes are fine" 0 policy check small.yaml
exits "check takes a profile by --profile" 0 policy check --profile build
prints "and names it" '^build: ok$'
exits "check takes several, later ones on top" 0 policy check --profile strict --policy small.yaml
prints "and names them all" '^strict, small.yaml: ok$'
exits "check of nothing" 125 policy check
says "says what to name" 'name a FILE, or a profile with --profile'
exits "check of standard input, as other tools call it" 125 policy check - </dev/null
says "says how it is called here" 'write /dev/stdin'
exits "check of standard input" 0 policy check /dev/stdin <<<'version: 1'
exits "check: an unknown profile" 125 policy check --profile strct
exits "test takes a profile, too" 0 policy test --profile strict

# warns NAME YAML REGEX: valid, but `run` would refuse it, in the same words.
warns()
{
	printf 'version: 1\n%s\n' "$2" >warned.yaml
	exits "$1 is a valid policy" 0 policy check warned.yaml
	prints "$1: it is valid, but not to be run here" '^warned.yaml: valid, but would be refused here'
	says "$1: but run would refuse it" "^cordon: warned.yaml: warning: cordon run.* would refuse this: .*$3"
}
export DOCKER_HOST=unix:///nonexistent/docker.sock # nobody is there, whatever this machine has
warns "a runtime that is not there" 'process: {runtime: docker}' 'the runtime docker \(process.runtime, warned.yaml:2\) cannot be used here: there is no Docker Engine at /nonexistent/docker.sock'
exits "and run does" 125 run --policy warned.yaml -- true
says "with the same words" 'the runtime docker \(process.runtime, warned.yaml:2\) cannot be used here: there is no Docker Engine at /nonexistent/docker.sock.*fallback: \[native\]'
warns "user 0" 'process: {user: 0}' 'process.user: 0 is not given to a workload'
warns "the root folder" 'filesystem: {read: [/]}' '/ cannot be shown to a sandbox'
warns "a category's runtime that is not there" 'process: {categories: {terminal: docker}}' 'the runtime docker \(process.categories.terminal, warned.yaml:2\)'
says "which names the category" 'cordon run --category terminal would refuse'
printf 'version: 1\nprocess: {runtime: docker, fallback: [native]}\n' >fallback.yaml
exits "a fallback that is there" 0 policy check fallback.yaml
says "is said as run says it" 'warning: cordon run would say: FALLBACK: running on native \(process.fallback, fallback.yaml:2\) instead of docker'
printf 'version: 1\nprocess: {user: 0}\n' >warned.yaml
exits "warnings in JSON" 0 policy check --json warned.yaml
json "check --json: ok" ok true
like "check --json: warnings" "$(cat "$tmp/out")" '"warnings":\["cordon run would refuse this: process.user: 0'
# effectless NAME YAML REGEX: a key that is well formed, and without an effect
effectless()
{
	printf 'version: 1\n%b\n' "$2" >effectless.yaml
	exits "$1" 0 policy check effectless.yaml
	says "$1: is said" "^cordon: effectless.yaml: warning: effectless.yaml:2: $3"
}
effectless "a rule of this machine's name" 'network: {mode: allowlist, allow: [{host: localhost, ports: [8080]}]}' 'network.allow: host localhost opens nothing: .*write the cidr of its address'
effectless "a rule of a private address" 'network: {mode: allowlist, allow: [{host: pypi.org}, {host: 10.1.2.3}]}' 'network.allow: host 10.1.2.3 opens nothing: it is a private address, .*write cidr: "10.1.2.3/32"'
effectless "a rule of an address of IPv6" 'network: {mode: public, allow: [{host: "fd00::5"}]}' 'network.allow: host fd00::5 opens nothing: .*write cidr: "fd00::5/128"'
printf 'version: 1\nfilesystem: {read: [/sys/kernel]}\n' >hidden.yaml
exits "a path of /sys, which no sandbox is shown" 0 policy check hidden.yaml
says "is said to be refused" 'warning: cordon run would refuse this: filesystem.read /sys/kernel \(hidden.yaml:2\): /sys/kernel cannot be shown to a sandbox'
HOME=$tmp exits "and is" 125 run -p hidden.yaml -- true # it leaves its log in a home
says "... in words" 'filesystem.read /sys/kernel \(hidden.yaml:2\): /sys/kernel cannot be shown to a sandbox'
exits "no warning for what run takes" 0 policy check small.yaml
is "check is silent then" "$(cat "$tmp/err")" ""

exits "a missing file" 125 policy check ./none.yaml
says "one clear line" '^cordon: ./none.yaml: [^
]*$'
mkdir -p folder.yaml
exits "a folder" 125 policy check folder.yaml
exits "an unknown profile" 125 policy check strct
says "has a guess" 'strict'

# --- test

exits "a policy's tests pass" 0 policy test p.yaml
prints "each is printed" 'ok +p.yaml:23  allow: \{host: pypi.org, method: GET, path: /simple/x\}'
prints "with a sum" '3 passed, 0 failed'
exits "test --json" 1 policy test --json failing.yaml
json "test --json: the failing one" tests.2.pass false
json "test --json: its answer" tests.2.answer '"deny"'
printf 'version: 1\nextends: [default]\nnetwork: {mode: public}\n' >wider.yaml
exits "tests of a shipped profile do not bind what extends it" 0 policy check wider.yaml
printf 'version: 1\nextends: [./p.yaml]\nfilesystem: {write: [./vendor]}\n' >child.yaml
exits "tests of one's own files bind what extends them" 1 policy check child.yaml

# --- show

exits "show" 0 policy show p.yaml
prints "show says where a value comes from" 'workdir: read-write  # profile:default:[0-9]+'
prints "show has the file's own lines" '- /opt/tools  # p.yaml:4'
prints "show resolves paths" "- $tmp/work/vendor  # p.yaml:4"
prints "show quotes what needs it" 'GREETING: "hi: # there"'
prints "show lists mandatory protections" '#   \*\*/\.git/hooks/\*\*'
cp "$tmp/out" shown.yaml
exits "what show prints is a policy" 0 policy check --workdir . ./shown.yaml
exits "which allows the same" 0 policy diff --workdir . p.yaml ./shown.yaml
exits "in both directions" 0 policy diff --workdir . ./shown.yaml p.yaml
exits "show of a profile" 0 policy show strict
is "show names none of Cordon's own folders twice" "$("$CORDON" policy show strict | sed -n '/^  deny:/,/^  #/p' | sort | uniq -d)" ""
own_id=$(id -u)
[ "$own_id" = 0 ] && own_id=1000
exits "show of the user" 0 policy show p.yaml
prints "is the id that a run would have: one's own, for root 1000" "user: $own_id  # built in"
exits "explain of the user" 0 policy explain p.yaml
prints "says the same" "its user id is $own_id\."
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	like "an ordinary user is shown their own id" "$(HOME=/nowhere setpriv --reuid 4242 --regid 4242 --clear-groups "$CORDON" policy show strict 2>&1)" 'user: 4242  # built in'
fi
printf 'version: 1\nprocess: {user: 77}\n' >user.yaml
exits "show of a user that a file sets" 0 policy show user.yaml
prints "has the file's" 'user: 77  # user.yaml:2'
exits "show --json" 0 policy show --json p.yaml
json "show --json: value and origin" filesystem.read.0 '{"value": "/opt/tools", "from": "p.yaml:4"}'
json "show --json: a rule" network.allow.1.ports '[8443]'

export XDG_CONFIG_HOME=$tmp/config
cat >"$XDG_CONFIG_HOME/cordon/policy.yaml" <<'Y'
version: 1
network: {mode: none}
process: {memory: 1G}
Y
exits "show applies the operator's ceiling" 0 policy show p.yaml
prints "limits take the minimum" "memory: 1G  # $XDG_CONFIG_HOME/cordon/policy.yaml:3"
printf 'version: 1\nprocess: {env: {pass: [TERM]}}\n' >"$XDG_CONFIG_HOME/cordon/policy.yaml.env"
mv "$XDG_CONFIG_HOME/cordon/policy.yaml" kept-ceiling && mv "$XDG_CONFIG_HOME/cordon/policy.yaml.env" "$XDG_CONFIG_HOME/cordon/policy.yaml"
FOO=of-the-host exits "env: a variable of the host that the ceiling does not list cannot be passed on a command line either" 125 env -e FOO -p p.yaml
says "and is named" "--env FOO: the ceiling's process.env.pass does not list it"
TERM=dumb exits "env: one that it lists can" 0 env -e TERM -p p.yaml
exits "env: so can a value of one's own" 0 env -e FOO=mine -p p.yaml
mv kept-ceiling "$XDG_CONFIG_HOME/cordon/policy.yaml"
exits "why asks under the ceiling" 1 why --policy p.yaml --host pypi.org
prints "and names the ceiling's line, not the policy's" "ceiling does not.*rule: network.mode none \\($XDG_CONFIG_HOME/cordon/policy.yaml:2\\)"
cat >"$XDG_CONFIG_HOME/cordon/policy.yaml" <<'Y'
version: 1
network:
  mode: allowlist
  allow: [{host: pypi.org, methods: [HEAD]}]
inference: {providers: {anthropic: {models: [only-this]}}}
Y
exits "why: a host that the ceiling cuts" 1 why --policy p.yaml --host x.example.com:8443
prints "names the ceiling" "ceiling does not.*\\($XDG_CONFIG_HOME/cordon/policy.yaml:3\\).*change the ceiling"
exits "why: a method that the ceiling cuts" 1 why --policy p.yaml --host pypi.org --method GET
prints "names the ceiling's rule" "HEAD only, not with GET.*rule: network.allow pypi.org \\($XDG_CONFIG_HOME/cordon/policy.yaml:4\\)"
exits "why: a model that the ceiling cuts" 1 why --policy p.yaml --model claude-opus-4
prints "names the ceiling" "\\($XDG_CONFIG_HOME/cordon/policy.yaml:5\\)"
exits "why: what the policy itself refuses" 1 why --policy p.yaml --host nowhere.example
prints "is not the ceiling's" "rule: network.mode allowlist \\(p.yaml:"
exits "why --json: what the ceiling cuts" 1 why --json --policy p.yaml --host x.example.com:8443
json "has its line" from "\"$XDG_CONFIG_HOME/cordon/policy.yaml:3\""
exits "check judges the file alone" 0 policy check p.yaml
unset XDG_CONFIG_HOME

# --- explain

exits "explain" 0 policy explain p.yaml
prints "explain: files" 'It can read and write the work folder'
prints "explain: home is ~" '[~]/\.cache/pip'
prints "explain: a rule" 'A request may go to pypi\.org on port 443 or 80, with GET or HEAD \(by GET[[:space:]]+also[[:space:]]+websockets,[[:space:]]+which[[:space:]]+carry[[:space:]]+anything\),[[:space:]]+for[[:space:]]+paths[[:space:]]+/simple/'
prints "explain: a wildcard in words" 'any name below example\.com on port 8443'
prints "explain: denials" 'It cannot reach bad\.example\.com'
prints "explain: models" 'It can use claude-\* of anthropic'
prints "explain: mandatory protections" 'never write, make or replace'
prints "explain: a reason for each group" '- \.gitmodules, \.git/remotes, \.git/branches: git takes remote addresses or'
all_protections()
{
	local p shown
	shown=$(tr -s ' \n' ' ' <"$tmp/out")
	"$CORDON" policy show p.yaml | sed -n '/never written:$/,$s/^  #   //p' >"$tmp/protected"
	[ "$(wc -l <"$tmp/protected")" -gt 50 ] || return
	while read -r p; do
		p=${p#'**/'}
		p=${p%'/**'}
		[[ $shown == *[-,]" $p"[,:]* ]] || { echo "missing: $p"; return 1; }
	done <"$tmp/protected"
}
ok "explain: every protection is listed" all_protections
ok "explain stays within its width" awk 'length > 100 {exit 1}' "$tmp/out"
exits "explain of no network" 0 policy explain strict
prints "says so" 'It has no network'
printf 'version: 1\nnetwork: {mode: public, deny: [{host: bad.example.com}, {cidr: 203.0.113.0/24}]}\n' >public.yaml
exits "explain: where all addresses are open" 0 policy explain public.yaml
prints "a denial of a name says that it is one" 'It cannot reach bad\.example\.com by that name'
prints "and one of addresses does not" 'It cannot reach 203\.0\.113\.0/24\.'
exits "explain --json" 0 policy explain strict --json
json "explain --json: sentences" network.0 '"It has no network: it cannot reach any other machine."'

# --- diff

# more NAME A-BODY B-BODY REGEX: B allows more than A, shown as a line that matches; and A allows nothing more than B.
more()
{
	printf 'version: 1\n%s\n' "$2" >a.yaml
	printf 'version: 1\n%s\n' "$3" >b.yaml
	exits "diff: $1" 1 policy diff a.yaml b.yaml
	prints "diff: $1: what" "\+ .*$4"
	exits "diff: $1: nothing the other way" 0 policy diff b.yaml a.yaml
}

# same NAME A-BODY B-BODY: written differently, meaning the same.
same()
{
	printf 'version: 1\n%s\n' "$2" >a.yaml
	printf 'version: 1\n%s\n' "$3" >b.yaml
	exits "diff: $1" 0 policy diff a.yaml b.yaml
	exits "diff: $1, the other way" 0 policy diff b.yaml a.yaml
}

net()
{
	printf 'network: {mode: allowlist, allow: [%s]}' "$1"
}

more "a wider work folder" 'filesystem: {workdir: copy}' 'filesystem: {workdir: read-write}' 'read-write instead of copy'
more "a writable folder" 'filesystem: {read: [/srv]}' 'filesystem: {read: [/srv], write: [/srv/x]}' 'writes /srv/x'
more "a denial that went" 'filesystem: {read: [/srv], deny: [/srv/k]}' 'filesystem: {read: [/srv]}' 'reads /srv/k'
more "a floating denial that went" 'filesystem: {deny: ["**/*.pem"]}' 'filesystem: {}' 'no longer denies'
more "a network" "network: {mode: none}" "$(net '{host: a.example}')" 'reaches a.example:443'
more "a port" "$(net '{host: a.example, ports: [443]}')" "$(net '{host: a.example, ports: [443, 22]}')" 'a.example:22'
more "a method" "$(net '{host: a.example, methods: [GET]}')" "$(net '{host: a.example, methods: [GET, PUT]}')" 'PUT'
more "any method" "$(net '{host: a.example, methods: [GET]}')" "$(net '{host: a.example}')" 'a.example:443'
more "a path" "$(net '{host: a.example, paths: [/x/**]}')" "$(net '{host: a.example, paths: [/x/**, /y]}')" '/y'
more "a wildcard host" "$(net '{host: b.a.example}')" "$(net '{host: "*.a.example"}')" '\*.a.example'
denying() { printf 'network: {mode: allowlist, allow: [{host: a.example}], deny: [%s]}' "$1"; }
more "a denied range that went, where a name may lead" "$(denying '{cidr: 127.0.0.0/8}')" "$(denying '')" 'no longer denies 127.0.0.0/8'
more "a denied range that is smaller" "$(denying '{cidr: 10.0.0.0/8}')" "$(denying '{cidr: 10.0.0.0/9}')" 'no longer denies 10.0.0.0/8'
more "a denied range on fewer ports" "$(denying '{cidr: 127.0.0.0/8}')" "$(denying '{cidr: 127.0.0.0/8, ports: [443]}')" 'no longer denies 127.0.0.0/8'
more "a denied name that went" "$(denying '{host: b.example}')" "$(denying '')" 'no longer denies b.example'
more "public" "$(net '{host: a.example}')" 'network: {mode: public}' 'every public host'
more "a limit" 'process: {memory: 1G}' 'process: {memory: 2G}' '2G instead of 1G'
more "no timeout" 'process: {timeout: 1m}' 'process: {}' 'no limit instead of 1m'
more "a program" 'process: {allow_exec: [/usr/bin/git]}' 'process: {allow_exec: [/usr/bin/git, /usr/bin/ssh]}' '/usr/bin/ssh'
more "a variable" 'process: {}' 'process: {env: {pass: [EDITOR]}}' 'EDITOR'
more "a model" 'inference: {providers: {anthropic: {models: ["claude-3-*"]}}}' 'inference: {providers: {anthropic: {models: ["claude-*"]}}}' 'claude-'
more "what was read-only by a wildcard" 'filesystem: {write: [/d], read: ["/d/*.conf"]}' 'filesystem: {write: [/d]}' 'no longer keeps /d/\*.conf read-only'
more "a credential for another path" "$(net '{host: a.example, paths: [/x], credential: c}, {host: a.example, paths: [/y]}')" "$(net '{host: a.example, paths: [/x], credential: c}, {host: a.example, paths: [/y], credential: c}')" 'uses credential c at a.example'
keyed() { net "{host: a.example, credential: $1}, {host: a.example, credential: $2}"; }
printf 'version: 1\ninference: {providers: {p: {kind: openai, url: "http://p.example"}, q: {kind: openai, url: "http://q.example"}}, routes: [%s]}\n' '{model: "x-*", provider: p}, {model: "*", provider: q}' >a.yaml
sed 's/routes: \[\(.*}\), \({.*}\)\]/routes: [\2, \1]/' a.yaml >b.yaml
exits "diff: routes in another order" 1 policy diff a.yaml b.yaml
prints "diff: routes in another order: what" 'sends x-\* to p'
more "a verdict" 'check: {scope-reduction: deny}' 'check: {scope-reduction: escalate}' 'escalate instead of deny'
# opens NAME A-BODY B-BODY REGEX: B allows more than A, shown as a line that matches, whatever the other way round.
opens()
{
	printf 'version: 1\n%s\n' "$2" >a.yaml
	printf 'version: 1\n%s\n' "$3" >b.yaml
	exits "diff: $1" 1 policy diff a.yaml b.yaml
	prints "diff: $1: what" "\+ .*$4"
}
server='v: {kind: openai, url: "https://a.example/v1"}'
more "a folder above one that is read" 'filesystem: {read: [/data/x/y]}' 'filesystem: {read: [/data]}' 'reads /data'
more "the home above a folder of it" 'filesystem: {read: ["~/a"]}' 'filesystem: {read: ["~"]}' 'reads '
more "the file system above a folder" 'filesystem: {write: [/data/x]}' 'filesystem: {write: [/data]}' 'writes /data'
opens "a method that is none of the usual ones" "$(net '{host: a.example, ports: [80]}')" "$(net '{host: a.example, ports: [80], methods: [LIST]}')" 'a.example:80 LIST'
opens "such a method, where all was public" 'network: {mode: public}' "$(net '{host: a.example, methods: [LIST]}')" 'LIST'
opens "a route that refused" 'inference: {providers: {openai: {models: [a]}}, routes: [{model: a, provider: nosuch}]}' 'inference: {providers: {openai: {models: [a]}}}' 'no longer sends a to nosuch'
opens "the host of a provider that went" "network: {mode: public}
inference: {providers: {$server}}" 'network: {mode: public}' 'reaches a.example, which is no longer the host of a provider'
opens "the host of a provider by a rule" "network: {mode: public}
inference: {providers: {$server}}" "$(net '{host: a.example}')
inference: {providers: {$server}}" 'reaches a.example:443'
more "a denial for all of the machine" 'filesystem: {deny: ["/**/x"]}' 'filesystem: {deny: ["**/x"]}' 'no longer denies /\*\*/x'
more "a denial that the base system is an exception of" 'filesystem: {deny: ["**/.env"]}' 'filesystem: {}' 'no longer denies \*\*/.env'
more "a denied folder, some files of which are shown" 'filesystem: {read: ["/srv/*/x"], deny: [/srv/k]}' 'filesystem: {read: ["/srv/*/x"]}' 'no longer denies /srv/k'
opens "a rate that holds in mode public" 'network: {mode: public, allow: [{host: a.example, rate: 1/h}]}' 'network: {mode: public}' 'no longer holds a.example to 1/h'
opens "a rate behind a rule without one" "$(net '{host: a.example, rate: 1/h}, {host: a.example}')" "$(net '{host: a.example}, {host: a.example, rate: 1/h}')" 'no longer holds a.example to 1/h'
opens "a rate for each of two paths" "$(net '{host: a.example, rate: 5/h}')" "$(net '{host: a.example, paths: [/x], rate: 5/h}, {host: a.example, paths: [/y], rate: 5/h}')" 'no longer holds a.example to 5/h'
opens "MCP's stream, for which a rule names paths" "$(net '{host: a.example, mcp: {tools: [t]}}')" "$(net '{host: a.example, paths: [/m], mcp: {tools: [t]}}')" 'a.example:443 /m'
for mode in copy read-only; do
	opens "a work folder without a row of its own, below a folder that is written, instead of $mode" "filesystem: {workdir: $mode, write: [/d/w]}" 'filesystem: {workdir: none, write: [/d/w]}' 'filesystem.workdir: no longer keeps a work folder in /d/w'
	opens "... by a pattern" "filesystem: {workdir: $mode, write: [\"/d/*/w\"]}" 'filesystem: {workdir: none, write: ["/d/*/w"]}' 'no longer keeps a work folder in /d/\*/w'
	opens "... by one that floats" "filesystem: {workdir: $mode, read: [/d], write: [\"**/w\"]}" 'filesystem: {workdir: none, read: [/d], write: ["**/w"]}' 'no longer keeps a work folder in \*\*/w'
	printf 'version: 1\nfilesystem: {workdir: %s, write: [/d/w, sub]}\n' "$mode" >a.yaml
	printf 'version: 1\nfilesystem: {workdir: none, write: [/d/w, sub]}\n' >b.yaml
	mkdir -p elsewhere
	exits "diff: of one work folder that is none of these" 0 policy diff --workdir elsewhere a.yaml b.yaml
done
same "what is written, but is no work folder" 'filesystem: {workdir: read-only, write: [sub]}' 'filesystem: {workdir: read-only, write: [sub, "sub/**"]}'
more "a denial that may be in a work folder" 'filesystem: {workdir: read-write, deny: [/d/w/k]}' 'filesystem: {workdir: read-write}' 'no longer denies /d/w/k'
printf 'version: 1\nfilesystem: {}\nnetwork: {mode: public}\n' >a.yaml
printf 'version: 1\nfilesystem: {deny: ["**/*.pem"]}\nnetwork: {mode: public, deny: [{host: b.example}]}\nprocess: {deny_exec: [/usr/bin/nc]}\n' >b.yaml
exits "diff: what is denied only there" 0 policy diff a.yaml b.yaml
prints "is called so: a file" '  - filesystem.deny: now denies \*\*/\*.pem  \(b.yaml:2\)'
prints "a host" '  - network.deny: now denies b.example'
prints "a program" '  - process.deny_exec: now refuses /usr/bin/nc'
opens "credentials in another order" "$(keyed x y)" "$(keyed y x)" 'uses credential y at a.example'
opens "a credential that another one came before" "$(keyed x y)" "$(net '{host: a.example, credential: y}')" 'uses credential y at a.example'
opens "... for some of it" "$(net '{host: a.example, paths: [/x], credential: x}, {host: a.example, credential: y}')" "$(net '{host: a.example, credential: y}')" 'uses credential y at a.example'
same "a credential behind one that is always sent" "$(net '{host: a.example, credential: x}')" "$(net '{host: a.example, credential: x}, {host: a.example, paths: [/x], credential: x}')"
same "a rate, and what comes before it" "$(net '{host: a.example, paths: [/free]}, {host: a.example, rate: 1/h}')" "$(net '{host: a.example, paths: [/free]}, {host: a.example, rate: 1/h}, {host: a.example, ports: [80]}')"
same "methods in two rules" "$(net '{host: a.example, methods: [GET, PUT]}')" "$(net '{host: a.example, methods: [PUT]}, {host: a.example, methods: [GET]}')"
same "a rule that another covers" "$(net '{host: "*.a.example"}')" "$(net '{host: x.a.example}, {host: "*.a.example"}')"
same "a folder below another" 'filesystem: {read: [/srv]}' 'filesystem: {read: [/srv, /srv/data, "/srv/**"]}'
same "a denial of what is absent anyway" 'filesystem: {workdir: none}' 'filesystem: {workdir: none, deny: [/srv/nowhere]}'
printf 'version: 1\nfilesystem: {workdir: read-write, deny: [/srv/nowhere]}\n' >a.yaml
printf 'version: 1\nfilesystem: {workdir: read-write}\n' >b.yaml
exits "diff: a denial of what is not in the work folder" 0 policy diff --workdir elsewhere a.yaml b.yaml
exits "diff --json" 1 policy diff --json strict default
json "diff --json: more" more.0.key '"filesystem.workdir"'
json "diff --json: less" less '[]'

# --- why

why()
{
	exits "why: $1" "$2" why --policy p.yaml "${@:3}"
}

why "an allowed request" 0 --host pypi.org:443 --method GET --url-path /simple/x
prints "names rule and line" 'rule: network.allow pypi.org \(p.yaml:10\)'
why "another method" 1 --host pypi.org --method POST
prints "says what is missing" 'allowed with GET, HEAD only, not with POST'
prints "and what to change" 'to allow it: add the method'
why "another path" 1 --host pypi.org --method GET --url-path /simple
for path in /simple/%c3%a9 /simple/%2a /%73imple/x; do
	why "a path that the gateway writes in another way first: $path" 0 --host pypi.org --method GET --url-path "$path"
done
printf 'version: 1\nnetwork: {mode: allowlist, allow: [{host: open.test}, {host: open.test, ports: [8443]}, {host: seen.test, paths: [/x]}, {host: got.test, methods: [GET]}, {host: key.test, credential: k}]}\n' >open.yaml
exits "why: a path that the gateway never lets through" 1 why --policy open.yaml --host got.test --url-path /a/../b
prints "says so" 'refuses every request with such a path: path has a dot segment'
for asked in "--method LIST" "--url-path /a/../b" "--method TRACE --url-path /x"; do
	# shellcheck disable=SC2086
	for at in open.test:443 open.test open.test:8443; do
		exits "why: a tunnel, whatever goes through it: $at $asked" 0 why --policy open.yaml --host $at $asked
	done
	prints "says so" 'on port 8443 are not looked into: neither methods nor paths count there'
	# shellcheck disable=SC2086
	for at in open.test:80 seen.test key.test other.test; do
		exits "why: but not $at $asked" 1 why --policy open.yaml --host $at $asked
	done
done
printf 'version: 1\nnetwork: {mode: allowlist, allow: [{host: a.test, paths: ["/q%%2Fq"]}]}\n' >slash.yaml
exits "a path with an encoded slash is refused" 125 policy check slash.yaml
says "says why" 'encoded slash or zero byte; a path with one can be read in two ways'
why "below a wildcard" 0 --host x.example.com:8443
why "the wildcard's own name" 1 --host example.com:8443
why "a denied name" 1 --host bad.example.com:8443
why "an address in an allowed network" 0 --host 10.1.2.9:5432
why "a private address" 1 --host 192.168.1.1
why "the metadata address" 1 --host 169.254.169.254:80
why "a readable path" 0 --path /opt/tools/x
why "which is not writable" 1 --path /opt/tools/x --write
why "a writable path" 0 --path "$HOME/.cache/pip/x" --write
why "a denied path in it" 1 --path "$HOME/.cache/pip/secret/x"
prints "names the rule's line" 'filesystem.deny .*/.cache/pip/secret \(p.yaml:6\)'
why "a floating denial" 1 --path sub/key.pem
why "an absent path" 1 --path "$HOME/.ssh/id_rsa"
why "a relative path" 0 --path ./a/../b --write
why "a protected path" 1 --path .git/config --write
prints "which no policy can open" 'No policy can allow it'
why "which may be read" 0 --path .git/config
why "a program by its name" 0 --exec env
why "a denied program" 1 --exec /usr/bin/nc
why "an absent program" 1 --exec /srv/bin/tool
why "a model" 0 --model claude-opus-4
why "another model" 1 --model Claude-opus
ln -s /var link
why "a link out of the work folder" 1 --path link/log
why "no question" 125
why "two questions" 125 --host a --path b
why "a bad port" 125 --host a:99999
exits "why --json" 1 why --json --policy p.yaml --path link/log
json "why --json: answer" answer '"deny"'
exits "why of the default profile" 1 why --host example.com
prints "says what opens a name" 'add \{host: example.com\} to network.allow'
exits "why of a private address, without a network" 1 why --host 10.0.0.1
prints "says what opens that: no rule of a host does" 'add \{cidr: NETWORK, ports: \[PORT\]\} to network.allow'
exits "why of what is no name, without a network" 1 why --host 'a..b'
prints "says what is wrong with it" 'to allow it: write the name in ASCII'
for url in https://pypi.org/simple pypi.org/simple; do
	exits "why of the URL $url" 125 why --host "$url"
	says "says how to ask that" 'of a URL give --host HOST and --url-path PATH'
done
exits "why of a path that is none of a URL" 125 why --policy p.yaml --host pypi.org --url-path simple/x
printf 'version: 1\n%s\n' "$(denying '{cidr: 127.0.0.0/8}')" >ranges.yaml
exits "why of a name, where ranges are denied" 0 why --policy ranges.yaml --host a.example
prints "says that its address is judged later" 'address that it leads to is judged when it is known: network.deny has ranges'
exits "why of an address in such a range" 1 why --policy ranges.yaml --host 127.0.0.1
printf 'version: 1\n%s\n' "$(denying '{host: b.example}')" >ranges.yaml
exits "why of a name, where none is" 0 why --policy ranges.yaml --host a.example
ok "says no more than that" sh -c '! grep -q "judged when" "$1"' - "$tmp/out"
exits "why of a provider's host" 1 why --profile claude --host api.anthropic.com
prints "says how its models are reached" 'use the base URL of the environment'
why "what no sandbox has" 1 --path /sys/kernel
prints "which is so for good" 'No policy can allow it'
evil=$'x\e[31m\nyes fake'
exits "a hostile name" 1 why --host "$evil"
ok "cannot move the cursor or fake a line" sh -c '! grep -q "^yes" "$1" && ! grep -q "$(printf "\033")" "$1"' - "$tmp/out"

# --- env

secret=hunter2-$$
export EDITOR=vi ANTHROPIC_API_KEY=$secret OPENAI_API_KEY=$secret LD_PRELOAD='' BASH_ENV='' FOO=foo-value
exits "env" 0 env --policy p.yaml
prints "env: what policy sets, with its value" 'GREETING=hi: # there +set by env.set \(p.yaml:18\)'
prints "env: what is passed, without its value" 'EDITOR +named in env.pass'
prints "env: what stays out" 'FOO +nothing names it'
prints "env: a variable that stands for a credential" 'ANTHROPIC_API_KEY +placeholder for credential anthropic'
prints "env: other credentials" 'OPENAI_API_KEY +looks like a credential'
prints "env: loader variables" 'LD_PRELOAD +can never be passed'
exits "env: --env K passes even that" 0 env --env ANTHROPIC_API_KEY --env X=1
prints "and says so" 'ANTHROPIC_API_KEY +given with --env; looks like a credential'
exits "env --json" 0 env --json --policy p.yaml --env ANTHROPIC_API_KEY
ok "no value of the host is ever printed" sh -c '! grep -q -e "$2" -e foo-value "$1"' - "$tmp/out" "$secret"
exits "env: a loader variable of the host" 125 env --env LD_PRELOAD
unset LD_PRELOAD BASH_ENV

# --- import

# imports NAME STATUS FILE: the result is a valid policy, kept in $tmp/policy.yaml.
imports()
{
	exits "import: $1" "$2" policy import "$3"
	cp "$tmp/out" "$tmp/policy.yaml"
	cp "$tmp/err" "$tmp/notes"
	run policy check "$tmp/policy.yaml"
	is "import: $1: the result is a valid policy" "$status" 0
	[ "$status" = 0 ] || sed 's/^/# /' "$tmp/err"
}

has()
{
	like "import: $1" "$(cat "$tmp/policy.yaml")" "$2"
}

notes()
{
	like "import: $1" "$(cat "$tmp/notes")" "$2"
	like "import: $1, in a comment too" "$(grep '^#' "$tmp/policy.yaml")" "${2#*: }"
}

cat >synth.yaml <<'Y'
network: bridge
allowed_hosts: ["api.example.com:443", "10.1.2.3:5432"]
dns_allowed: false
loopback_allowed: true
memory_limit: 512m
cpu_limit: 1.5
pids_limit: 100
timeout_seconds: 90
runtime: null
runtime_overrides: {}
network_overrides: {}
network_allow_all: false
mount_mode: rw
Y
imports "SynthOrg" 0 synth.yaml
has "hosts and ports" 'host: api.example.com
      ports: \[443\]'
has "a private address becomes a cidr" 'cidr: "10.1.2.3/32"'
has "limits" 'max_processes: 100
  memory: 512M
  cpus: 1.5
  timeout: 90s'
has "dns and the work folder" 'workdir: read-write.*dns: none'
cat >synth2.yaml <<'Y'
sandboxing:
  docker:
    image: x
    network: none
    allowed_hosts: ["a.example:443"]
    network_overrides: {web: bridge}
    runtime: runsc
    runtime_overrides: {terminal: runsc, desktop: runc}
    surprise: 1
    policy:
      filesystem: {read_paths: [/workspace], write_paths: [/out], deny_paths: [/root]}
      process: {max_processes: 7, deny_executables: [/usr/bin/curl]}
      inference: {route_through_proxy: true, allowed_providers: [openai]}
Y
imports "SynthOrg with losses" 1 synth2.yaml
has "its defaults are kept" 'workdir: read-only.*tmp_size: 64M.*mode: none.*memory: 512M'
has "its policy block wins" 'deny_exec:
    - /usr/bin/curl
  max_processes: 7'
has "runtimes" 'runtime: gvisor.*terminal: gvisor'
has "providers" 'openai:'
notes "a network per category" 'synth2.yaml:6: .*network_overrides.web'
notes "hosts without a network" 'not carried over: .*allowed_hosts'
notes "an unknown category" 'not carried over: .*runtime_overrides.desktop'
notes "an unknown key" 'not carried over: .*surprise'
notes "an image" 'not carried over: .*docker.image'

cat >openshell.yaml <<'Y'
version: 1
filesystem_policy: {include_workdir: true, read_only: [/usr, /lib, /proc, /dev/urandom, /etc, /var/log], read_write: [/sandbox, /tmp, /dev/null]}
landlock: {compatibility: best_effort}
process: {run_as_user: sandbox, run_as_group: sandbox}
network_policies:
  github:
    name: github
    endpoints:
      - {host: api.github.com, port: 443, protocol: rest, tls: terminate, enforcement: enforce, access: read-only, deny_rules: [{method: "*", path: "/repos/*/rulesets"}]}
      - {host: git.example, port: 443, protocol: rest, rules: [{allow: {method: POST, path: "/**/git-upload-pack"}}, {allow: {method: GET, path: /x, query: {a: b}}}]}
      - {host: "**.deep.example", port: 8443}
      - {host: "*.flat.example", port: 443}
      - {host: "*-api.example.com", port: 443}
      - {host: mcp.example, port: 443, protocol: mcp, rules: [{allow: {method: tools/call, tool: x}}]}
    binaries: [{path: /usr/bin/git}]
inference: {allowed_routes: [local]}
Y
imports "OpenShell" 1 openshell.yaml
has "the work folder and paths" 'workdir: read-write
  read:
    - /var/log
  write:
    - /sandbox'
has "an access preset" 'methods:
        - GET
        - HEAD
        - OPTIONS'
has "a rule" '- POST
      paths:
        - "/\*\*/git-upload-pack"'
has "a denial, widened rather than narrowed" 'deny:.*"/repos/\*\*/rulesets"'
has "names at any depth" 'host: "\*.deep.example"'
notes "programs bound to rules" 'openshell.yaml:15: .*binaries'
notes "a query" 'not carried over: .*query has no counterpart'
notes "a wildcard within a label" 'not carried over: .*-api.example.com'
notes "a protocol that is not looked into" 'not carried over: .*endpoints\[5\].protocol'
notes "inference routes" 'not carried over: .*inference'
notes "best effort" 'changed: .*landlock.compatibility'
ok "import: a rule with a query is left out, not widened" sh -c '! grep -q "mcp.example\|- GET\b.*- /x" "$1"' - "$tmp/policy.yaml"

printf '{\n\t"network": {"allowedDomains": ["github.com", "*.npmjs.org:443"], "deniedDomains": ["evil.example"], "allowUnixSockets": ["/run/d.sock"], "allowLocalBinding": true},\n' >srt.json
printf '\t"filesystem": {"denyRead": ["~/.ssh", "/home"], "allowWrite": [".", "src/", "/tmp"], "denyWrite": [".env", "config/prod.json"]},\n' >>srt.json
printf '\t"ignoreViolations": {"*": ["/x"]}, "enableWeakerNestedSandbox": true, "brandNew": {}\n}\n' >>srt.json
imports "sandbox-runtime" 1 srt.json
has "the work folder" 'workdir: read-write'
has "read-only within it" 'read:
    - ".env"
    - config/prod.json'
has "domains" 'host: github.com
    - host: "\*.npmjs.org"
      ports: \[443\]'
has "denied ones" 'deny:
    - host: evil.example'
has "what may not be read" 'deny:
    - "~/.ssh"'
notes "sockets" 'not carried over: .*allowUnixSockets'
notes "violations" 'not carried over: .*ignoreViolations'
notes "a weaker sandbox" 'not carried over: .*enableWeakerNestedSandbox'
notes "an unknown key in JSON" 'not carried over: .*brandNew: unknown key'
exits "import --json" 1 policy import --json srt.json
json "import --json: source" source '"srt"'
json "import --json: what is lost" lost.0.key '"network.allowUnixSockets"'

printf '{"network": "bridge", "allowed_hosts": ["x.example:443"], "runtime_overrides": ["runsc"], "memory_limit": "512m", "pids_limit": 9, "policy": {"network": {"allowed_hosts": ["a.example:443"]}, "process": {"max_processes": 20}, "filesystem": {"deny_paths": ["/workspace/secrets"]}}}' >org.json
imports "SynthOrg, what is replaced" 1 org.json
has "a denial in the workspace is one in the work folder" 'deny:
    - secrets'
notes "hosts that the block replaces" 'changed: .*allowed_hosts take the place'
notes "a limit that it replaces" 'changed: .*takes the place of pids_limit'
notes "a list where a mapping belongs" 'not carried over: .*runtime_overrides: is a list where a mapping belongs'
printf '{"network": "none", "network_allow_all": true, "memory_limit": "512m"}' >nonet.json
imports "SynthOrg, no network" 0 nonet.json
has "all hosts of no network are none" 'mode: none'
printf '{"network": "bridge", "network_allow_all": true, "allowed_hosts": ["x.example:443"], "memory_limit": "512m"}' >all.json
imports "SynthOrg, all hosts" 0 all.json
has "all hosts are all, whatever is listed" 'mode: public'
cat >narrow.yaml <<'Y'
version: 1
network_policies:
  a:
    endpoints:
      - {host: a.example, port: 443, path: "/v1/**", rules: [{allow: {method: GET, path: "/**"}}]}
      - {host: c.example, port: 443, access: full, deny_rules: {method: DELETE}}
      - {host: d.example, port: 443, rules: [{allow: {method: GET}, unless: x}]}
    binaries: [{path: "/**"}]
Y
imports "OpenShell, what narrows" 1 narrow.yaml
has "a rule reaches no further than its endpoint" 'host: a.example
      ports: \[443\]
      methods:
        - GET
      paths:
        - "/v1/\*\*"'
ok "import: what cannot be read opens nothing" sh -c '! sed "/^  deny:/,\$d" "$1" | grep -v "^#" | grep -q "c.example\|d.example"' - "$tmp/policy.yaml"
has "... and what it denies, which cannot be told, is all of it" 'deny:
    - host: c.example'
notes "a mapping where a list belongs" 'not carried over: .*deny_rules.*: is a mapping where a list belongs'
notes "what stands beside allow" 'not carried over: .*a rule with unless'
printf '{"filesystem": {"denyRead": ["~", "**/secrets", "/srv/data"], "allowRead": [".", "/opt/app/secrets/public"], "allowWrite": [".", "/srv/data/drop"], "denyWrite": ["~/.ssh", "/etc/motd"]}}' >closed.json
imports "sandbox-runtime, what is closed" 1 closed.json
ok "import: what could not be read there is not shown for not being writable" sh -c '! grep -A1 "^  read:" "$1" | grep -q ssh && grep -A9 "^  deny:" "$1" | grep -q "~/.ssh"' - "$tmp/policy.yaml"
has "what could be read elsewhere, and not written, is not shown for that" 'deny:.*
    - /etc/motd'
has "a denial with a wildcard stays, whatever is allowed in it" 'deny:
    - "\*\*/secrets"
    - /srv/data'
ok "import: what is allowed in a denied folder is not shown" sh -c '! grep -v "^#" "$1" | grep -q "drop\|public"' - "$tmp/policy.yaml"
notes "what stays out for that" 'not carried over: .*/srv/data/drop, of allowWrite'
exits "import: what it is can be said" 1 policy import --from srt srt.json
exits "import: from standard input" 125 policy import - </dev/null
exits "import: an unknown source" 125 policy import --from other srt.json
exits "import: none of the three" 125 policy import p.yaml
says "says how to go on" '--from'
exits "import: a missing file" 125 policy import none.json
exits "import: a folder" 125 policy import folder.yaml
printf '{"network": ' >cut.json
exits "import: cut JSON" 125 policy import cut.json
printf '\x00\x01\xff' >binary
exits "import: binary" 125 policy import binary
printf 'a: &x [1]\nb: *x\n' >alias.yaml
exits "import: aliases" 125 policy import alias.yaml
printf '{"sandbox": {"network": {"allowedDomains": ["a\\u001b[31m.example", "x\\ny"]}}}' >evil.json
imports "hostile text" 1 evil.json
ok "import: hostile text cannot leave its comment" sh -c '! grep -qv "^#\|^[a-z ]" "$1" && ! grep -q "$(printf "\033")" "$1" "$2"' - "$tmp/policy.yaml" "$tmp/notes"

# Which number it has is the same each time: it would be taken for one file that changes. And who writes may be late.
two_pipes()
{
	"$CORDON" policy show -p <(sleep 0.3; printf 'version: 1\nprocess: {max_processes: 7}\n') && "$CORDON" policy show -p <(printf 'version: 1\nprocess: {max_processes: 8}\n')
}
# slowly SECONDS: a policy that somebody takes time to write
slowly()
{
	printf 'version: 1\nprocess:\n'
	sleep "$1"
	printf '  max_processes: 7\n'
}
like "a policy may come from a pipe that somebody still writes to" "$("$CORDON" policy show -p <(sleep 0.5; slowly 0.5) 2>&1)" 'max_processes: 7'
like "... that is standard input" "$({ sleep 0.5; slowly 0.5; } | "$CORDON" policy show -p /dev/stdin 2>&1)" 'max_processes: 7'
like "... for longer than a policy may take to be compiled" "$("$CORDON" policy show -p <(slowly 11) 2>&1)" 'max_processes: 7'
mkfifo fifo
exec 9<>fifo
like "a FIFO in the place of a file is not waited for" "$(timeout 10 "$CORDON" policy show -p ./fifo 2>&1)" './fifo: cannot be read'
exec 9>&-
export XDG_CONFIG_HOME=$tmp/piped-config; mkdir -p "$XDG_CONFIG_HOME/cordon"
printf 'version: 1\nfilesystem: {workdir: read-only}\n' >"$XDG_CONFIG_HOME/cordon/policy.yaml"
like "why answers for a pipe below a ceiling, too" "$("$CORDON" why -p <(printf 'version: 1\nfilesystem: {workdir: read-write}\n') --path x --write 2>&1)" '^no: x may not be written'
unset XDG_CONFIG_HOME
like "a policy may come from a pipe, and another one after it" "$(two_pipes 2>&1 | grep max_processes | tr '\n' ' ')" 'max_processes: 7.*max_processes: 8'

[ -z "${made:-}" ] || rm -rf -- "$made"
finish
