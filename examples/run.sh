#!/bin/sh
# run.sh EXAMPLE: starts the mocks, runs the example's client in a sandbox, and stops them again. CORDON names the program; else ../build/cordon.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cordon=${CORDON:-$here/../build/cordon}
[ $# -gt 0 ] || { echo "run.sh: which example? anthropic, openai, gemini or local-model" >&2; exit 2; }
example=$here/$1
[ -d "$example" ] || { echo "run.sh: there is no example $1: anthropic, openai, gemini or local-model" >&2; exit 2; }
config=$(mktemp -d)
mkdir -p "$config/cordon" "$config/work"
cp "$example/credentials.yaml" "$config/cordon/"
cp "$example/client.sh" "$config/work/"
export XDG_CONFIG_HOME="$config"
export DEMO_KEY=demo-key-that-stays-outside # what an operator would keep in a password store
python3 "$here/mock.py" 18081 "the provider" &
provider=$!
python3 "$here/mock.py" 18082 "the local server" &
local_server=$!
trap 'kill $provider $local_server 2>/dev/null; rm -rf "$config"' EXIT
for _ in 1 2 3 4 5; do sleep 0.2; kill -0 $provider $local_server 2>/dev/null || { echo "run.sh: the mocks need ports 18081 and 18082" >&2; exit 2; }; done
"$cordon" run --policy "$example/policy.yaml" --workdir "$config/work" -- sh client.sh
