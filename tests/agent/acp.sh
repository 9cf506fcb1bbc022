#!/bin/bash
# cordon-acp against scripted agents: the protocol from the first request to the reason for the end.
. "$(dirname "$0")/../lib.sh"

acp=${CORDON%/*}/cordon-acp
work=$tmp/work
mkdir "$work"
printf 'Create "hello.txt".\n' >"$tmp/instruction"

# acp [COMMAND...] <<SCRIPT: sets status and said; $tmp/trail is the trajectory.
acp()
{
	cat >"$tmp/script.py"
	[ $# -gt 0 ] || set -- python3 "$tests_dir/agent/acp_agent.py" "$tmp/script.py"
	said=$(cd "$work" && timeout 60 "$acp" --trajectory "$tmp/trail" --instruction "$tmp/instruction" -- "$@" 2>&1)
	status=$?
}

# trail EXPRESSION: of the trajectory, a list t of its lines.
trail() { python3 -c 'import json, sys; t = [json.loads(l) for l in open(sys.argv[1])]; print(eval(sys.argv[2]))' "$tmp/trail" "$1"; }

# note: what a script found out, in $work/found.
found() { cat "$work/found" 2>/dev/null; rm -f "$work/found"; }

acp <<'P'
def run(agent):
    assert agent.prompt["sessionId"] == "s-1" and agent.prompt["prompt"] == [{"type": "text", "text": 'Create "hello.txt".\n'}], agent.prompt
    agent.tell("agent_message_chunk", content={"type": "text", "text": "I write \x1b[31mit."})
    agent.tell("tool_call", toolCallId="1", title="write hello.txt", kind="edit", status="pending")
    p = agent.call("session/request_permission", toolCall={"toolCallId": "1"}, options=[{"optionId": "no", "name": "No", "kind": "reject_once"}, {"optionId": "yes!", "name": "Yes", "kind": "allow_always"}, {"optionId": "o\"nce", "name": "Once", "kind": "allow_once"}])
    assert p["result"] == {"outcome": {"outcome": "selected", "optionId": "o\"nce"}}, p
    open("hello.txt", "w").write("hello")
P
is "a toy task is done, with permission" "$status $(cat "$work/hello.txt" 2>&1)" "0 hello"
is "updates are the trajectory, with the reason for the end" "$(trail '[x["role"] for x in t] + [t[1]["update"]["sessionUpdate"], t[-1]["reason"], t[-1]["exit"]]')" "['user', 'update', 'update', 'end', 'agent_message_chunk', 'end_turn', 0]"
like "what it says is shown, escaped" "$said" 'I write \\x1b\[31mit\.'
acp <<'P'
import json, os
def run(agent):
    assert agent.offer["protocolVersion"] == 1 and agent.offer["clientCapabilities"] == {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
    assert agent.session == {"cwd": os.getcwd(), "mcpServers": []}
P
is "version, capabilities and the folder are told" "$status" 0
acp <<'P'
def run(agent):
    p = agent.call("session/request_permission", toolCall={}, options=[{"optionId": "no", "name": "No", "kind": "reject_once"}])
    assert p["result"] == {"outcome": {"outcome": "cancelled"}}, p
    for options in (None, {}, [], [1, {"kind": "allow_once"}, {"kind": 1, "optionId": 1}]):
        p = agent.call("session/request_permission", options=options)
        assert p["result"]["outcome"]["outcome"] == "cancelled", p
P
is "what offers nothing to allow is not allowed" "$status" 0
for stop in max_tokens:2 max_turn_requests:2 refusal:3 cancelled:3 end_turn:0; do
	acp <<<"run = lambda agent: '${stop%:*}'"
	is "the stop reason ${stop%:*} is exit status ${stop#*:}" "$status" "${stop#*:}"
done

# Files
acp <<'P'
import os
def run(agent):
    here = os.getcwd()
    w = agent.call("fs/write_text_file", path=here + "/new/folder/a.txt", content="one\ntwo\nthree\u20ac\n")
    assert w["result"] == {}, w
    read = lambda **how: agent.call("fs/read_text_file", **dict({"path": here + "/new/folder/a.txt"}, **how))["result"]["content"]
    assert read() == "one\ntwo\nthree\u20ac\n"
    assert read(line=2) == "two\nthree\u20ac\n" and read(line=2, limit=1) == "two\n" and read(limit=1) == "one\n" and read(line=9) == "" and read(limit=0) == ""
    assert read(line=None, limit=None) == read() and read(line=0) == read()
    agent.call("fs/write_text_file", path=here + "/new/folder/a.txt", content="x")
    assert read() == "x"
    open("binary", "wb").write(b"a\xffb\0c")
    assert read(path=here + "/binary") == "a\ufffdb\0c"
    os.mkfifo("fifo")
    open("big", "wb").truncate(5 << 20)
    for path, code in ((here + "/none", -32002), (here, -32603), (here + "/fifo", -32603), (here + "/big", -32603), ("/dev/zero", -32603), ("a.txt", -32602), (None, -32602), (here + "/a\0b", -32602)):
        e = agent.call("fs/read_text_file", path=path)
        assert e["error"]["code"] == code, (path, e)
    for params in ({"path": here + "/fifo", "content": "x"}, {"path": here, "content": "x"}, {"path": "rel", "content": "x"}, {"path": here + "/y"}, {"path": here + "/y", "content": 7}):
        assert "error" in agent.call("fs/write_text_file", **params), params
    assert not os.path.exists("y")
P
is "files are read, by lines too, and written; what is no file is refused and holds nothing up" "$status$said" 0

# Terminals
acp <<'P'
import os, time
def run(agent):
    make = lambda **how: agent.call("terminal/create", **how)["result"]["terminalId"]
    wait = lambda t: agent.call("terminal/wait_for_exit", terminalId=t)["result"]
    out = lambda t: agent.call("terminal/output", terminalId=t)["result"]
    t = make(command="printf", args=["%s|", "a b", "$HOME", "*"])
    assert wait(t) == {"exitCode": 0, "signal": None}
    assert out(t) == {"output": "a b|$HOME|*|", "truncated": False, "exitStatus": {"exitCode": 0, "signal": None}}, out(t)
    t = make(command="echo $A-$((1+1)); pwd; exit 3", env=[{"name": "A", "value": "x=y"}], cwd="/")
    assert wait(t) == {"exitCode": 3, "signal": None} and out(t)["output"] == "x=y-2\n/\n", out(t)
    t = make(command="i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done", outputByteLimit=20)
    wait(t)
    assert out(t)["truncated"] and out(t)["output"] == "ine 2998\nline 2999\n"[-20:] or len(out(t)["output"]) <= 20, out(t)
    t = make(command="echo up; sleep 60")
    while out(t)["output"] != "up\n":
        time.sleep(0.05)
    assert "exitStatus" not in out(t)
    waiting = agent.ask("terminal/wait_for_exit", terminalId=t)
    again = agent.ask("terminal/wait_for_exit", terminalId=t)
    assert agent.call("terminal/kill", terminalId=t)["result"] == {}
    assert agent.answer(waiting)["result"] == {"exitCode": None, "signal": "SIGKILL"} == agent.answer(again)["result"]
    assert out(t)["exitStatus"]["signal"] == "SIGKILL"
    assert agent.call("terminal/release", terminalId=t)["result"] == {}
    for method in ("output", "wait_for_exit", "kill", "release"):
        assert agent.call("terminal/" + method, terminalId=t)["error"]["code"] == -32002
    t = make(command="sleep 60 & echo $! >pid; sleep 60")
    while not os.path.exists("pid") or not open("pid").read():
        time.sleep(0.05)
    waiting = agent.ask("terminal/wait_for_exit", terminalId=t)
    agent.call("terminal/release", terminalId=t)
    assert agent.answer(waiting)["result"]["signal"] == "SIGKILL"
    pid = open("pid").read().strip()
    for _ in range(100):
        if not os.path.exists("/proc/" + pid) or "Z" in open("/proc/%s/stat" % pid).read().split()[2]:
            break
        time.sleep(0.05)
    else:
        assert False, "the group was not ended"
    bad = [{}, {"command": ""}, {"command": 7}, {"command": "a", "args": [1]}, {"command": "a\0b"}, {"command": "true", "env": [{"name": "A=B", "value": ""}]}, {"command": "true", "env": [{"value": ""}]}]
    for params in bad:
        assert agent.call("terminal/create", **params)["error"]["code"] == -32602, params
    for params in ({"command": "/no/such", "args": ["x"]}, {"command": "true", "cwd": "/no/such"}):
        assert agent.call("terminal/create", **params)["error"]["code"] == -32603, params
    made = [make(command="true") for _ in range(64 - 3)]
    assert agent.call("terminal/create", command="true")["error"]["code"] == -32603
    agent.call("terminal/release", terminalId=made[0])
    make(command="true")
    assert agent.call("nonsense/method")["error"]["code"] == -32601
    assert agent.call("_extension")["error"]["code"] == -32601
P
is "terminals: made, watched, waited for, killed, released" "$status$said" 0
acp <<'P'
def run(agent):
    # both sides write more than pipes hold: neither may wait for the other for ever
    open("large", "w").write("z" * 3000000)
    import os
    numbers = [agent.ask("fs/read_text_file", path=os.getcwd() + "/large") for _ in range(10)]
    for n in numbers:
        assert len(agent.answer(n)["result"]["content"]) == 3000000
P
is "much in both directions does not lock up" "$status$said" 0

# Authentication
acp <<'P'
needs_key = True
run = lambda agent: None
P
is "a session that wants a key is authenticated, by the method with a key" "$status" 0
acp <<'P'
needs_key = True
initialize = {"protocolVersion": 1, "authMethods": [{"id": "login", "name": "x"}]}
run = lambda agent: None
P
is "where only a person could log in, that is the end" "$status" 3
like "and its words are told" "$said" 'the agent refuses session/new: Authentication required'

# Agents that break the protocol
acp <<'P'
initialize = {"protocolVersion": 2}
P
is "another version of the protocol: 3" "$status" 3
acp <<'P'
session = {}
P
is "a session without an id: 3" "$status" 3
acp <<'P'
run = lambda agent: "because"
P
is "an unknown stop reason: 3" "$status" 3
acp <<'P'
def begin(agent):
    agent.raw("Welcome!\n\n{\n[1,2]\n\"x\"\nnull\n{}\n" + '{"jsonrpc":"2.0","id":{},"method":"x"}\n{"id":1,"result":1,"error":2}\n{"id":999,"result":{"stopReason":"end_turn"}}\n{"id":"1","result":{"protocolVersion":1}}\n' + "[" * 5000 + "\n")
    agent.raw(b"\xff\xfe\n")
run = lambda agent: None
P
is "lines that are not the protocol are passed over and noted, answers to nothing too" "$status $(trail 'sum(x["role"] == "note" for x in t)')" "0 10"
acp <<'P'
def begin(agent):
    agent.raw("x\n" * 1001)
    import time
    time.sleep(30)
P
is "too many of them: 3" "$status" 3
acp <<'P'
def run(agent):
    agent.raw("y" * (17 << 20))
P
is "a line without an end: 3" "$status" 3
acp <<'P'
def run(agent):
    import sys
    agent.tell("agent_message_chunk", content={"type": "text", "text": "last words"})
    sys.exit(5)
P
is "an agent that ends early: 3, and its last words are kept" "$status $(trail 't[1]["update"]["content"]["text"]')" "3 last words"
like "with its status" "$said" 'ended with status 5 before it was done'
acp <<'P'
def run(agent):
    import os
    os.kill(os.getpid(), 9)
P
like "one that is killed: 3" "$status $said" '^3 .*ended by signal 9'
acp <<'P'
def run(agent):
    import os, time
    os.close(1)
    time.sleep(40)
P
is "one that closes its output: 3" "$status" 3
acp <<'P'
def run(agent):
    import signal, time, threading
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    agent.send({"id": 3, "result": {"stopReason": "end_turn"}})
    time.sleep(100)
P
is "one that does not go when it is done is ended" "$status" 0
acp /no/such/agent </dev/null
is "no such agent: 127" "$status" 127
: >"$tmp/data"
acp "$tmp/data" </dev/null
is "one that cannot be executed: 126" "$status" 126
is "without a command: 125" "$("$acp" --instruction "$tmp/instruction" 2>/dev/null; echo $?)" 125
is "without an instruction: 125" "$("$acp" -- true 2>/dev/null; echo $?)" 125
finish
