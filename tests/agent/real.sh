#!/bin/bash
# Real agents, as examples/agents says: Claude Code, Codex and Gemini CLI (by ACP) work on a task without a network, and ask a scripted model through the door.
#
# Their packages are installed from npm's registry once, by the user who runs the build, into BUILD/agents (or what CORDON_AGENTS names); what cannot be had is skipped.
agents=${CORDON_AGENTS:-${CORDON_BUILD:-$(dirname "$0")/../../build}/agents}

# install NAME PACKAGE: into $agents/NAME; says why not
install()
{
	local why
	[ ! -d "$agents/$1" ] || return 0
	command -v npm >/dev/null || { echo "there is no npm"; return 1; }
	mkdir -p "$agents" 2>/dev/null || { echo "$agents cannot be made"; return 1; }
	rm -rf "$agents/$1.new"
	export npm_config_cache=$agents/npm npm_config_fetch_retries=0 npm_config_update_notifier=false
	timeout 20 npm view "$2" name >/dev/null 2>&1 || { echo "npm's registry has no $2, or cannot be reached"; return 1; }
	why=$(timeout 120 npm install --no-fund --no-audit --global --prefix "$agents/$1.new" "$2" 2>&1) || { echo "npm cannot install $2: $(grep -m 1 'npm error' <<<"$why")"; return 1; }
	mv "$agents/$1.new" "$agents/$1"
}

# before the suite is in a network namespace of its own
if [ -z "${GATE_NAMESPACE:-}" ] && ! ldd "${CORDON:-cordon}" 2>/dev/null | grep -q asan; then
	REAL_CLAUDE=$(install claude @anthropic-ai/claude-code@2.1.197)
	REAL_CODEX=$(install codex @openai/codex@0.166.0)
	REAL_GEMINI=$(install gemini @google/gemini-cli@0.61.0)
	rm -rf "$agents/npm"
	export REAL_CLAUDE REAL_CODEX REAL_GEMINI
fi
. "$(dirname "$0")/../gate_lib.sh"
. "$(dirname "$0")/../task_lib.sh"

for file in "$tests_dir"/../examples/agents/profiles/*.yaml; do
	ok "the example ${file##*/examples/agents/} is a policy" "$CORDON" policy check "$file"
done
if is_sanitized; then
	skip "real agents" "the sanitizers need more than a sandbox leaves"
	finish
fi
if [ "$runtime" != native ] && ! "$CORDON" run -- true >/dev/null 2>&1; then
	skip "real agents" "$runtime does not work here"
	finish
fi

export XDG_DATA_HOME=$tmp/data REAL_KEY=the-real-key-4711-0815
mkdir -p "$config/agents" "$config/profiles" "$HOME/.local/share/cordon-agents/node/bin"
cp "$tests_dir"/../examples/agents/*.yaml "$config/agents/"
chmod 644 "$config"/agents/*
for name in claude codex gemini; do ln -s "$(readlink -f "$agents")/$name" "$HOME/.local/share/cordon-agents/$name"; done
# the examples' profiles, but for the model's address
provider() { printf 'version: 1\ninference:\n  providers:\n    %s: {credential: %s, url: "http://127.0.0.1:18091", models: ["%s"], max_requests: 20}\n' "$2" "$2" "$3" >"$config/profiles/$1-agent.yaml"; }
provider claude anthropic 'claude-sonnet-4-5'
provider codex openai 'gpt-5-codex'
provider gemini gemini 'gemini-2.5-pro'
cat >"$config/credentials.yaml" <<'Y'
version: 1
credentials:
  anthropic: {from: {env: REAL_KEY}, hosts: [127.0.0.1], inject: {header: x-api-key}, env: ANTHROPIC_API_KEY}
  openai: {from: {env: REAL_KEY}, hosts: [127.0.0.1], inject: {bearer: true}, env: OPENAI_API_KEY}
  gemini: {from: {env: REAL_KEY}, hosts: [127.0.0.1], inject: {header: x-goog-api-key}, env: GEMINI_API_KEY}
Y

# An image with a shell, and the libraries that the programs load: nothing else of theirs
node=$(command -v node)
root=$tmp/roots/real
make_base_root "$root"
rm -f "$root/bin/bash"
copy_programs "$root" /bin/bash
for program in "$agents/claude/bin/claude" ${node:+"$node"}; do
	for file in $(ldd "$(readlink -f "$program")" 2>/dev/null | grep -o '/[^ )]*'); do
		[ -e "$root$file" ] || { mkdir -p "$root${file%/*}" && cp -L "$file" "$root$file"; }
	done
done
chmod 755 "$tmp"
"$CORDON" image import cordon-test/real "$root" >/dev/null || { echo "Bail out! the image cannot be made"; exit 99; }
cp -r "$tests_dir/tasks/benign/hello" "$tmp/task"
printf 'FROM cordon-test/real\nWORKDIR /app\n' >"$tmp/task/environment/Dockerfile"
# without a cgroup memory is counted as what programs reserve, and Claude Code reserves some
sed -i 's/^memory_mb = .*/memory_mb = 4096/' "$tmp/task/task.toml"
log=$tmp/asked
# what an agent's shell is told to do; what it says must not be there
command='echo "Hello, world!" >/app/hello.txt
{ env | grep the-real-key; for f in /opt/*; do touch "$f/x" 2>&-; done; ls /opt/*/x; bash -c "exec 3<>/dev/tcp/127.0.0.1/18091" && echo reached; ls /opt; } >/logs/agent/seen 2>&-'
helper "$log.ready" python3 "$tests_dir/agent/stream.py" 18091 "$command" "$log" || finish

# works NAME AGENT WHY HEADER BEFORE TOOLS: one agent, or WHY it is not there; the header that has the key, what is before it, and what is in /opt
works()
{
	local out=$tmp/out-$2
	if [ -n "$3" ]; then
		skip "$1" "$3"
		return
	fi
	: >"$log"
	timeout 200 "$CORDON" task run "$tmp/task" --agent "$2" --runtime "$runtime" --out "$out" --json >"$tmp/result.json" 2>"$tmp/result.err"
	is "$1 does the task without a network" "$(python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["status"], r["reward"], r["phases"][2]["exit"])' "$tmp/result.json" 2>&1; [ "$(grep -c . "$log")" -ge 2 ] || tail -n 5 "$out/output/agent.txt")" "scored 1 0"
	is "$1: every request has the real key, put in outside" "$(python3 -c 'import json, sys; print({[v for k, v in json.loads(l)["headers"].items() if k.lower() == sys.argv[2]][0] for l in open(sys.argv[1])})' "$log" "$4")" "{'$5$REAL_KEY'}"
	ok "$1: and it is nowhere in what is kept, nor on this machine" bash -c '! grep -rqF "$1" "$2" "$3"' _ "$REAL_KEY" "$out" "$XDG_STATE_HOME"
	is "$1: its shell has no key, cannot write to what it is made of, and reaches nothing" "$(tr '\n' ' ' <"$out/agent/seen")" "$6 "
	ok "$1: its trajectory is kept" bash -c 'find "$1"/trajectory* -name "*.jsonl" -size +0 | grep -q .' _ "$out"
	is "$1: what it used is counted" "$(python3 -c 'import json, sys; u = json.load(open(sys.argv[1]))["usage"]["models"]; print(u[0]["requests"] == u[0]["input_tokens"] / 11 == int(sys.argv[2]))' "$tmp/result.json" "$(wc -l <"$log")" 2>&1)" True
}
works "Claude Code" claude "$REAL_CLAUDE" x-api-key "" claude
works "Codex" codex "$REAL_CODEX" authorization "Bearer " codex
if [ -z "$REAL_GEMINI" ]; then
	[ -n "$node" ] && [ "$("$node" -p 'parseInt(process.versions.node)')" -ge 20 ] || REAL_GEMINI="it needs Node.js 20"
	cp "$node" "$HOME/.local/share/cordon-agents/node/bin/node"
fi
! ldd "${cordon_program%/*}/cordon-acp" 2>/dev/null | grep -q '=>' || REAL_GEMINI=${REAL_GEMINI:-"cordon-acp is not static, and the image has none of its libraries"}
works "Gemini CLI, by ACP" acp "$REAL_GEMINI" x-goog-api-key "" "gemini node"

# --- under their own profiles, beside what the same agents left in the home outside ---

[ "$runtime" = native ] || finish
asked=$tmp/asked-at-home
helper "$asked.ready" python3 "$tests_dir/agent/stream.py" 18092 'echo "Hello, world!" >hello.txt' "$asked" || finish
mkdir -p "$HOME/.npm-global" && chmod 700 "$HOME"
for name in claude codex gemini; do
	[ ! -d "$agents/$name" ] || cp -al "$agents/$name/." "$HOME/.npm-global/" 2>/dev/null || cp -a "$agents/$name/." "$HOME/.npm-global/"
done
export PATH=$HOME/.npm-global/bin:$PATH

# left FILE...: they are there, as a run outside leaves them
left()
{
	local file
	for file; do
		mkdir -p "$HOME/${file%/*}" && printf '#!/bin/sh\nexec false\n' >"$HOME/$file" && chmod 755 "$HOME/$file"
	done
}
echo '{}' >"$HOME/.claude.json"
left .claude/shell-snapshots/snapshot-bash-1-a.sh .claude/chrome/chrome-native-host .claude/jobs/1/state.json .claude/statusline.sh
left .codex/tmp/arg0/codex-arg0AbCdEf/apply_patch .codex/shell_snapshots/1.1.sh .codex/work.config.toml
left .gemini/tmp/bin/rg .gemini/antigravity/mcp_config.json

# kept: what it is now, and the names beside it
kept()
{
	find "$HOME" -path "$HOME/.npm-global" -prune -o -type f -perm -1 -print0 | sort -z | xargs -0 sha256sum
	ls "$HOME"/.codex/tmp/arg0 "$HOME"/.*/shell?snapshots "$HOME/.gemini/tmp/bin"
}
echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}}' >"$HOME/.gemini/settings.json"

# at_home NAME PROFILE WHY PROVIDER MODELS STATE COMMAND...: the agent works in the current folder, keeps its state, and leaves the rest as it was; or WHY it is not there
at_home()
{
	local name=$1 profile=$2 why=$3 provider=$4 models=$5 state=$6 before
	shift 6
	[ -n "$why" ] || [ -n "$node" ] || why="there is no Node.js"
	[ -n "$why" ] || case $(readlink -f "${node:-/usr/bin/node}") in /usr/*) ;; *) why="Node.js is not in /usr" ;; esac
	if [ -n "$why" ]; then
		skip "$name under its profile" "$why"
		return
	fi
	printf 'version: 1\nextends: [%s]\ninference:\n  providers:\n    %s: {url: "http://127.0.0.1:18092", models: ["%s"]}\n' "$profile" "$provider" "$models" >"$tmp/$profile.yaml"
	before=$(kept)
	mkdir "$work/$profile" && : >"$asked"
	(cd "$work/$profile" && timeout 120 "$CORDON" run --policy "$tmp/$profile.yaml" --env IS_SANDBOX=1 -- "$@" >"$tmp/$profile.out" 2>&1 </dev/null)
	is "$name under its profile does what it is told, and ends well" "$?:$(cat "$work/$profile/hello.txt" 2>&1)$(grep -q 'Hello' "$work/$profile/hello.txt" 2>/dev/null || tail -n 12 "$tmp/$profile.out")" "0:Hello, world!"
	ok "... and keeps its conversation" bash -c 'find "$1" -type f -name "*.json*" -size +0 | grep -q .' _ "$HOME/$state"
	is "... and what a run outside would execute is as it was, and nothing is beside it" "$(kept)" "$before"
}
at_home "Claude Code" claude "$REAL_CLAUDE" anthropic 'claude-*' .claude/projects \
	claude -p "Write hello.txt" --model claude-sonnet-4-5 --dangerously-skip-permissions --disallowed-tools WebSearch
# shellcheck disable=SC2016 # its address is known inside
at_home "Codex" codex "$REAL_CODEX" openai 'gpt-*' .codex/sessions sh -c 'exec codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox --model gpt-5-codex -c web_search=disabled -c model_provider=cordon \
	-c "model_providers.cordon={name=\"cordon\",base_url=\"$OPENAI_BASE_URL\",env_key=\"OPENAI_API_KEY\",wire_api=\"responses\"}" "Write hello.txt"'
at_home "Gemini CLI" gemini "$REAL_GEMINI" gemini 'gemini-*' .gemini/tmp gemini --yolo --skip-trust --model gemini-2.5-pro -p "Write hello.txt"
finish
