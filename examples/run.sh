#!/bin/sh
# run.sh EXAMPLE: starts the mocks, runs the example's client in a sandbox, and stops them again. CORDON names the program; else ../build/cordon.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cordon=${CORDON:-$here/../build/cordon}
[ $# -gt 0 ] || { echo "run.sh: which example? anthropic, openai, gemini or local-model" >&2; exit 2; }
example=$here/$1
[ -f "$example/client.sh" ] || { echo "run.sh: there is no example $1: anthropic, openai, gemini or local-model" >&2; exit 2; }
command -v "$cordon" >/dev/null || { echo "run.sh: there is no $cordon: run make first, or set CORDON" >&2; exit 2; }
config=$(mktemp -d)
mkdir -p "$config/cordon" "$config/work"
cp "$example/credentials.yaml" "$config/cordon/"
cp "$example/client.sh" "$config/work/"
export XDG_CONFIG_HOME="$config"
export DEMO_KEY=demo-key-that-stays-outside # what an operator would keep in a password store
python3 "$here/mock.py" 18081 "the provider" "$config/ready1" &
provider=$!
python3 "$here/mock.py" 18082 "the local server" "$config/ready2" &
local_server=$!
trap 'kill $provider $local_server 2>/dev/null || true; rm -rf "$config"' EXIT
# One that has ended found its port taken.
while ! { [ -f "$config/ready1" ] && [ -f "$config/ready2" ]; }; do
	if ! kill -0 $provider 2>/dev/null || ! kill -0 $local_server 2>/dev/null; then
		echo "run.sh: the mocks need ports 18081 and 18082" >&2
		exit 2
	fi
	sleep 0.1
done
"$cordon" run --policy "$example/policy.yaml" --workdir "$config/work" -- sh client.sh
