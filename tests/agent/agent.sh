#!/bin/bash
# The built-in agent against a scripted model: on its own, and through the gateway of a sandbox without a network.
. "$(dirname "$0")/../gate_lib.sh"

agent=${cordon_program%/*}/cordon-agent
log=$tmp/asked
echo '[]' >"$tmp/script"
helper "$log.ready" python3 "$tests_dir/agent/model.py" 18090 "$tmp/script" "$log" || finish
echo "Create hello.txt with the word hello in it." >"$work/instruction.md"
export OPENAI_BASE_URL=http://127.0.0.1:18090/v1
unset ANTHROPIC_BASE_URL GOOGLE_GEMINI_BASE_URL OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY CORDON_MODEL

# script STEP...: what the model answers, from now on.
script()
{
	local IFS=,
	printf '[%s]\n' "$*" >"$tmp/script"
	: >"$log"
}

# agent [OPTION...]: sets status, said (both outputs) and the trajectory $tmp/trail.
agent()
{
	said=$(cd "$work" && timeout 60 "$agent" --model m --trajectory "$tmp/trail" --instruction "$work/instruction.md" "$@" 2>&1)
	status=$?
}

# asked N EXPRESSION: of the Nth request, in Python: r is {"path", "headers", "body"}, m its messages.
asked() { python3 -c 'import json, sys; r = json.loads(open(sys.argv[1]).read().splitlines()[int(sys.argv[2]) - 1]); m = r["body"].get("messages") or r["body"].get("contents"); print(eval(sys.argv[3]))' "$log" "$1" "$2"; }
requests() { wc -l <"$log"; }
# trail EXPRESSION: of the trajectory, a list t of its lines.
trail() { python3 -c 'import json, sys; t = [json.loads(l) for l in open(sys.argv[1])]; print(eval(sys.argv[2]))' "$tmp/trail" "$1"; }

# A whole toy task, in every form
for form in openai anthropic gemini; do
	rm -f "$work/hello.txt"
	script '{"say":"I write it.","run":["printf hello >hello.txt"]}' '{"run":["cat hello.txt","exit 3"]}' '{"say":"Done."}'
	if [ "$form" = anthropic ]; then
		unset OPENAI_BASE_URL
		export ANTHROPIC_BASE_URL=http://127.0.0.1:18090
		result='[(b["type"], b["content"], b["is_error"]) for b in m[4]["content"]]'
		want="[('tool_result', '[exit status 0]\\nhello', False), ('tool_result', '[exit status 3]\\n', True)]"
		usage="(11, 7)"
	elif [ "$form" = gemini ]; then
		unset ANTHROPIC_BASE_URL
		export GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:18090
		result='[(p["functionResponse"]["name"], p["functionResponse"]["response"]) for p in m[4]["parts"]]'
		want="[('shell', {'output': '[exit status 0]\\nhello'}), ('shell', {'error': '[exit status 3]\\n'})]"
		usage="(11, 7)"
	else
		result='[(x["role"], x["tool_call_id"], x["content"]) for x in m[-2:]]'
		want="[('tool', 'call_0', '[exit status 0]\\nhello'), ('tool', 'call_1', '[exit status 3]\\n')]"
		usage="(11, 7)"
	fi
	agent
	is "$form: a toy task is done" "$status $(cat "$work/hello.txt" 2>&1)" "0 hello"
	is "$form: the model was asked three times" "$(requests)" 3
	like "$form: the first request has the instruction and the tool" "$(asked 1 'str(m) + str(r["body"]["tools"])')" 'Create hello\.txt.*shell'
	is "$form: results of one answer go back together, with their status" "$(asked 3 "$result")" "$want"
	is "$form: the trajectory names all roles and the end" "$(trail '[x["role"] for x in t]')" "['system', 'user', 'assistant', 'tool', 'assistant', 'tool', 'tool', 'assistant', 'end']"
	is "$form: the trajectory has the usage" "$(trail '(t[2]["usage"]["input_tokens"], t[2]["usage"]["output_tokens"])')" "$usage"
	is "$form: the trajectory ends with the reason" "$(trail '(t[-1]["reason"], t[-1]["exit"])')" "('done', 0)"
	case $form in
	anthropic)
		like "Anthropic: thoughts go back as they came, signed" "$(asked 2 'm[1]["content"][0]')" "'signature': 'c2lnbmVk'"
		is "Anthropic: what the next request repeats is marked for the cache" "$(asked 2 'm[-1]["content"][-1]["cache_control"]["type"]')" ephemeral
		;;
	gemini)
		like "Gemini: thoughts go back as they came, signed" "$(asked 2 'm[1]["parts"]')" "'thought': True.*'thoughtSignature': 'c2lnbmVk'"
		is "Gemini: the model is in the path, and nowhere else" "$(asked 1 'r["path"]') $(asked 1 '"model" in r["body"]')" "/v1beta/models/m:generateContent False"
		;;
	esac
done
export OPENAI_BASE_URL=http://127.0.0.1:18090/v1 ANTHROPIC_BASE_URL=http://127.0.0.1:18090
script '{"say":"ok"}'
agent --model some-claude-9
is "with all ways open, Claude is asked the Anthropic way" "$(asked 1 'r["path"]')" /v1/messages
script '{"say":"ok"}'
agent --model gpt-9
is "and others the OpenAI way" "$(asked 1 'r["path"]')" /v1/chat/completions
script '{"say":"ok"}'
GEMINI_API_KEY=AIzaPlaceholder agent --model models/gemini-9
is "and Gemini its own, with the placeholder as its key" "$(asked 1 '(r["path"], r["headers"]["x-goog-api-key"])')" "('/v1beta/models/gemini-9:generateContent', 'AIzaPlaceholder')"
for name in gemini/../x 'gemini x' 'gemini?key=x' gemini:y 'gemini%2fx' models/; do
	GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:18090 OPENAI_BASE_URL='' ANTHROPIC_BASE_URL='' agent --model "$name"
	is "the name '$name' makes no path at Gemini" "$status" 125
done
script '{"stop":"SAFETY"}'
agent --model gemini-9
is "Gemini: a model that declines ends the work with 3" "$status $(trail 't[-1]["reason"]')" "3 refusal"
script '{"say":"I begin","stop":"MAX_TOKENS"}' '{"say":"ok"}'
agent --model gemini-9
is "Gemini: an answer that was cut is not taken for the end" "$status $(requests)" "0 2"
unset ANTHROPIC_BASE_URL GOOGLE_GEMINI_BASE_URL
script '{"say":"ok"}'
said=$(CORDON_MODEL=from-variable "$agent" --instruction "$work/instruction.md")
is "CORDON_MODEL names the model" "$(asked 1 'r["body"]["model"]')" from-variable
script '{"say":"ok"}'
OPENAI_API_KEY=sk-placeholder agent
is "the placeholder is sent as the key" "$(asked 1 'r["headers"]["Authorization"]')" "Bearer sk-placeholder"

# Limits
script '{"run":["true"]}'
agent --max-turns 3
is "turns that are used up end the work with 2" "$status $(requests)" "2 3"
script '{"run":[{"command":"echo begun; sleep 30 & sleep 30","timeout":1}]}' '{"say":"ok"}'
agent
is "a command ends when its time is up" "$status $(asked 2 'm[-1]["content"]')" "0 [time is up after 1 s: the command was ended]
begun"
script '{"run":[{"command":"trap \"\" TERM; while :; do sleep 1; done","timeout":1000000}]}' '{"say":"ok"}'
agent --command-timeout 1
like "no command gets more time than the option says, nor outlives it by ignoring SIGTERM" "$status $(asked 2 'm[-1]["content"]')" '^0 \[time is up after [34] s'
script '{"run":["sleep 60 >/dev/null 2>&1 & echo $! >background; echo started"]}' '{"say":"ok"}'
SECONDS=0
agent
ok "what is left in the background is not waited for" test "$SECONDS" -lt 20
ok "and goes on" kill -0 "$(cat "$work/background")"
kill "$(cat "$work/background")"
script '{"run":["echo first; head -c 3000000 /dev/zero | tr \"\\\\0\" x; echo; echo last"]}' '{"say":"ok"}'
agent --max-output 1000
like "long output keeps its beginning and its end, and says so" "$(asked 2 'm[-1]["content"].replace("\n", " ")')" '^\[exit status 0\] first x+ \[\.\.\. [0-9]+ bytes of output are left out here \.\.\.\] x+ last $'
ok "and is bounded" test "$(asked 2 'len(m[-1]["content"])')" -lt 1200
script '{"run":["printf \"a\\\\0b\\\\377c\\\\033]0;x\\\\007\""]}' '{"say":"ok"}'
agent
is "output of any bytes goes back as text" "$(asked 2 'ascii(m[-1]["content"][-10:])')" "'ab\\ufffdc\\x1b]0;x\\x07'"
is "and moves no cursor here" "${said//[^$'\x1b']/}" ""
script '{"run":["read x || echo no input"]}' '{"say":"ok"}'
agent
like "commands have no input" "$(asked 2 'm[-1]["content"]')" 'no input'
big='{"run":["head -c 12000 /dev/zero | tr \"\\\\0\" y"]}'
steps=()
for _ in $(seq 45); do steps+=("$big"); done
script "${steps[@]}" '{"say":"ok"}'
agent
is "a long conversation stays within bounds: old output is dropped" "$status $(asked 46 'len(str(m)) < 420000 and "bytes more of this old output were dropped" in m[3]["content"]') $(asked 46 'len(m[-1]["content"]) > 12000')" "0 True True"
script "$big" "$big" "$big" '{"status":400,"body":{"error":{"message":"maximum context length is 8192 tokens"}}}' '{"say":"ok"}'
agent
is "a model with a short memory is asked again with less" "$status $(asked 5 'len(str(m)) < 30000')" "0 True"

# Failures
script '{"status":429,"headers":{"Retry-After":"1"},"body":{"error":{"message":"slow down"}}}' '{"status":503}' '{"close":true}' '{"say":"ok"}'
agent
is "overload and broken connections are tried again" "$status $(requests)" "0 4"
script '{"status":401,"body":{"error":{"message":"no such key \u001b[31m"}}}'
agent
is "a refusal ends the work with 3, at once" "$status $(requests)" "3 1"
like "and its reason is told, escaped" "$said" 'the model answers 401: no such key \\x1b\[31m'
script '{"status":403,"headers":{"X-Proxy-Error":"blocked-by-allowlist"},"body":{"error":"policy_denied","domain":"inference","detail":"model m is not allowed","hint":"use gpt-*"}}'
agent
is "a policy's refusal ends it with 3" "$status $(requests)" "3 1"
like "and says what the policy said" "$said" 'the policy refuses it: model m is not allowed \(use gpt-\*\)'
is "and the trajectory says so" "$(trail '(t[-1]["reason"], t[-1]["exit"])')" "('model', 3)"
script '{"status":429,"headers":{"x-should-retry":"false"},"body":{"error":{"message":"max_requests is used up"}}}'
agent
is "a used-up budget ends it with 2, at once" "$status $(requests)" "2 1"
OPENAI_BASE_URL=http://127.0.0.1:1/v1 agent
is "nobody at the port: 3" "$status" 3
for url in https://127.0.0.1:1/v1 http://example.com/v1 http://127.0.0.1.example.com/v1 http://user@127.0.0.1/ 'http://[::2]/' http://2130706433/ 'http://127.0.0.1:18090/v1?x' ftp://x; do
	OPENAI_BASE_URL=$url agent
	is "the base URL $url is refused" "$status" 125
done
said=$(env -u OPENAI_BASE_URL "$agent" --model m --instruction "$work/instruction.md" 2>&1)
is "without a provider there is nothing to ask: 3" "$? ${said:0:41}" "3 cordon-agent: neither OPENAI_BASE_URL nor"

# Answers of a model that means harm, or stumbles
deep=$(printf '[%.0s' $(seq 3000))
for answer in '' '{' '[]' 'null' '{}' '{"choices":[]}' '{"choices":[{"message":null}]}' '{"choices":{"message":{}}}' "{\\\"choices\\\":$deep" '{\"choices\":[{\"message\":{\"content\":\"\ud800\"}}]}' \
	'{\"choices\":[{\"message\":{\"content\":\"ÿ\"}}]}' '{\"choices\":[],\"choices\":[]}' '{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":7}]}}]}' '{\"choices\":[{\"message\":{\"tool_calls\":[{}]}}]}'; do
	answer=${answer//\\\"/\"}
	script "{\"raw\":$(python3 -c 'import json, sys; print(json.dumps(sys.argv[1]))' "$answer")}"
	agent
	is "the answer ${answer:0:40} is refused, after three tries" "$status $(requests)" "3 3"
done
script '{"tool":"rm_rf","run":["x"]}' '{"run":["{\"command\":"]}' '{"run":["{\"command\":7}"]}' '{"run":["{\"command\":\"a\\u0000b\"}"]}' '{"say":"ok"}'
agent
is "calls that make no sense are answered, and run nothing" "$status $(asked 5 '[x["content"][:8] for x in m if x["role"] == "tool"]')" "0 ['[not run', '[not run', '[not run', '[not run']"
is "arguments that are no JSON are not repeated" "$(asked 3 'm[4]["tool_calls"][0]["function"]["arguments"]')" "{}"
script "{\"run\":[{\"command\":\"echo $(printf 'x%.0s' $(seq 140000))\"}]}" '{"say":"ok"}'
agent
like "a command that no program could take is not run" "$(asked 2 'm[-1]["content"]')" 'longer than 128 KiB'
script '{"say":"I begin","stop":"length"}' '{"say":"ok"}'
agent
is "an answer that was cut is not taken for the end" "$status $(requests) $(asked 2 'm[-1]["role"]')" "0 2 user"
script '{"say":"No.","stop":"content_filter"}'
agent
is "a model that declines ends the work with 3" "$status $(trail '(t[-1]["reason"], t[-1]["exit"])')" "3 ('refusal', 3)"
script '{"status":200,"body":{"error":{"message":"no credits"}}}'
agent
like "an error that is sent as an answer is told" "$status $said" '^3 .*the answer has no message: no credits'
for options in "--max-turns 0" "--max-turns x" "--max-turns" "--nonsense" "-- x" "--max-output 1"; do
	# shellcheck disable=SC2086 # several words
	agent $options
	is "the options $options are refused" "$status" 125
done

for program in agent acp; do
	is "cordon-$program --version" "$("${agent%-agent}-$program" --version)" "cordon-$program $("$cordon_program" --version | awk '{ print $2 }')"
	like "cordon-$program --help" "$("${agent%-agent}-$program" --help)" "^Usage: cordon-$program .*--instruction"
done

# Inside: no network, one provider, a placeholder
if is_sanitized; then
	skip "inside of a sandbox" "the sanitizers need more than a sandbox leaves"
	finish
fi
export REAL_KEY=the-real-key-4711-0815
cat >"$config/credentials.yaml" <<'Y'
version: 1
credentials:
  model:
    from: {env: REAL_KEY}
    hosts: [127.0.0.1]
    inject: {header: authorization, format: "Bearer {}"}
    env: OPENAI_API_KEY
  claude:
    from: {env: REAL_KEY}
    hosts: [127.0.0.1]
    inject: {header: x-api-key, format: "{}"}
    env: ANTHROPIC_API_KEY
  google:
    from: {env: REAL_KEY}
    hosts: [127.0.0.1]
    inject: {header: x-goog-api-key, format: "{}"}
    env: GEMINI_API_KEY
Y
mkdir "$tmp/tools"
cp "$agent" "$tmp/tools/"
for form in openai anthropic gemini; do
	case $form in
	openai) credential=model header=Authorization value="Bearer $REAL_KEY" ;;
	anthropic) credential=claude header=x-api-key value=$REAL_KEY ;;
	gemini) credential=google header=x-goog-api-key value=$REAL_KEY ;;
	esac
	cat >"$tmp/$form.yaml" <<Y
version: 1
extends: [default]
filesystem: {read: [$tmp/tools]}
process: {env: {set: {ASAN_OPTIONS: detect_leaks=0}}} # what looks for leaks would trace
inference:
  providers:
    $form: {kind: $form, url: "http://127.0.0.1:18090", credential: $credential, models: ["m-*"], max_requests: 3}
Y
	rm -f "$work/hello.txt"
	script '{"run":["printf hello >hello.txt; env"]}' '{"run":["cat hello.txt; (exec 3<>/dev/tcp/127.0.0.1/18090) 2>/dev/null && echo reached || echo closed"]}' '{"say":"Done."}'
	run "$tmp/$form.yaml" "$tmp/tools/cordon-agent" --model m-1 --trajectory trail.jsonl --instruction instruction.md >"$tmp/out" 2>&1
	is "$form, inside: the toy task is done without a network" "$? $(cat "$work/hello.txt" 2>&1)" "0 hello"
	is "$form, inside: the real key is put in outside" "$(python3 -c 'import json, sys; print([v for k, v in json.loads(open(sys.argv[1]).readline())["headers"].items() if k.lower() == sys.argv[2].lower()][0])' "$log" "$header")" "$value"
	ok "$form, inside: and is nowhere inside" bash -c '! grep -rqF "$1" "$2" "$3"' _ "$REAL_KEY" "$work" "$tmp/out"
	like "$form, inside: a shell has no other way out" "$(tail -4 "$work/trail.jsonl" | tr '\n' ' ')" 'hello.*closed'
	run "$tmp/$form.yaml" "$tmp/tools/cordon-agent" --model other --instruction instruction.md >"$tmp/out" 2>&1
	is "$form, inside: a model that the policy does not allow: 3" "$?" 3
	like "$form, inside: and the policy's words" "$(cat "$tmp/out")" 'the policy refuses it: .*other'
	script '{"run":["true"]}'
	run "$tmp/$form.yaml" "$tmp/tools/cordon-agent" --model m-1 --instruction instruction.md >"$tmp/out" 2>&1
	is "$form, inside: the policy's budget ends it with 2, after that many requests" "$? $(requests)" "2 3"
done

# In a task's image, which has nothing but a shell: the programs, the instruction and the trajectory are where task/agents.h says.
in_image()
{
	local layer=$tmp/image/layer ids=() program
	mkdir -p "$layer"/{bin,etc,tmp,proc,dev,sys} "$tmp/image/box/upper" "$tmp/image/box/work" "$tmp/bin" "$tmp/place"
	cp /bin/busybox "$layer/bin/" && ln -s busybox "$layer/bin/sh" && ln -s busybox "$layer/bin/cat" || return
	printf 'root:x:0:0::/:/bin/sh\n' >"$layer/etc/passwd"
	cp "$CORDON_BUILD/tests/image-run" "$tmp/bin/"
	for program in agent egress init relay vault; do cp "${cordon_program%/*}/cordon-$program" "$tmp/bin/"; done
	cp "$work/instruction.md" "$tmp/place/"
	chmod 755 "$tmp" "$tmp/place"
	chmod 700 "$tmp/image/box"
	if [ "$(id -u)" = 0 ]; then
		ids=(--ids 65536:1700000000:1700000001)
		chown -hR 1700000000:1700000000 "$tmp/image"
	fi
	grep -v '^filesystem:' "$tmp/openai.yaml" >"$tmp/image.yaml" # nothing of the host's is to be read there
	"$tmp/bin/image-run" run --policy "$tmp/image.yaml" --layer "$layer" --folder "$tmp/image/box" "${ids[@]}" --cwd /app --mount "$tmp/bin/cordon-agent:/run/cordon-agent/cordon-agent" \
		--mount "$tmp/place/instruction.md:/run/cordon-agent/instruction.md" -- \
		/run/cordon-agent/cordon-agent --model m-1 --trajectory /logs/agent/trajectory.jsonl --instruction /run/cordon-agent/instruction.md
}
if [ "$runtime" = native ] && [ -x /bin/busybox ] && ! ldd "$agent" 2>/dev/null | grep -q '=>'; then
	script '{"run":["printf hello >hello.txt"]}' '{"run":["cat hello.txt; /run/cordon-agent/cordon-agent; echo x >/run/cordon-agent/cordon-agent"]}' '{"say":"Done."}'
	in_image >"$tmp/out" 2>&1
	is "in an image: the toy task is done with nothing but a shell" "$? $(cat "$tmp/image/box/upper/app/hello.txt" 2>&1)" "0 hello"
	cp "$tmp/image/box/upper/logs/agent/trajectory.jsonl" "$tmp/trail" 2>/dev/null || : >"$tmp/trail"
	like "in an image: the trajectory is in its own folder" "$(trail '[x["role"] for x in t]')" "'end'\\]"
	like "in an image: the agent's program cannot be written" "$(trail '[x["output"] for x in t if x["role"] == "tool"]')" "Read-only file system|Permission denied|Text file busy"
else
	skip "in an image" "that needs the native runtime, busybox and a static program"
fi
finish
