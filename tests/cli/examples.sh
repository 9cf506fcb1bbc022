#!/bin/bash
# examples/run.sh works as examples/README.md says, and says what is missing where it does not.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

mkdir -p "$tmp/home" "$tmp/state"
export HOME=$tmp/home XDG_STATE_HOME=$tmp/state XDG_CACHE_HOME=$tmp/cache CORDON
run=$tests_dir/../examples/run.sh

# example NAME...: its status in $status, what it says in $said.
example()
{
	said=$(timeout 120 sh "$run" "$@" 2>&1 </dev/null)
	status=$?
}

# answers NAME REGEX: the example works.
answers()
{
	example "$1"
	if [[ $said == *"the mocks need ports"* ]]; then
		skip "example $1" "ports 18081 and 18082 are taken"
		return
	fi
	like "example $1: the client is answered, and the key is seen outside only" "$status $said" "^0 .*$2"
}

answers anthropic 'a placeholder: sk-ant-.*the provider: /v1/messages, credential: demo-key-that-stays-outside.*Hello from the provider.*policy_denied'
answers openai 'a placeholder: sk-proj-.*credential: Bearer demo-key-that-stays-outside.*Hello from the provider'
answers gemini 'a placeholder: AIza.*credential: demo-key-that-stays-outside.*Hello from the provider'
answers local-model 'credential: none.*Hello from the local server'
for name in tasks nowhere; do
	example $name
	like "$name is no example, and those that are are named" "$status $said" "^2 run.sh: there is no example $name: anthropic, openai"
done
CORDON=$tmp/none example anthropic
is "before a build, that is said" "$status $said" "2 run.sh: there is no $tmp/none: run make first, or set CORDON"
python3 -c 'import socket, time; s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", 18082)); s.listen(); time.sleep(60)' &
taken=$!
sleep 1
example anthropic
kill $taken
like "a port that another has: nothing is sent there" "$status $said" '^2 .*run.sh: the mocks need ports 18081 and 18082'
is "... and nothing is run" "${said//*placeholder*/it is}" "$said"

finish
