#!/bin/bash
# What is held back of an answer, and when it comes, says nothing of the credential to who can make its host say bytes of their choice.
. "$(dirname "$0")/../gate_lib.sh"

secret=sk-Test/5f1d0c9a7b3e+QqZz_secret
export TEST_API_KEY=$secret
cat >"$config/credentials.yaml" <<'Y'
version: 1
credentials:
  key:
    from: {env: TEST_API_KEY}
    hosts: [api.test]
    inject: {header: x-api-key, format: "{}"}
    env: TEST_API_KEY
Y
cat >"$tmp/net.yaml" <<'Y'
version: 1
extends: [default]
network:
  mode: allowlist
  allow:
    - host: api.test
      methods: [GET]
      paths: ["/ok/**"]
      credential: key
Y
start_upstream api.test || finish
cp "$tests_dir/gate/oracle.py" "$work/"
inside() { run "$tmp/net.yaml" python3 oracle.py "$@" 2>&1; }

# Beginnings of its forms, and beside each a text of the same length that begins none.
right=() wrong=()
for form in "$secret" "$(printf %s "$secret" | base64 -w0)" "$(printf %s "$secret" | od -An -tx1 | tr -d ' \n')" "%73k%2dTest/5f1d" 'sk-Test\/5f1d'; do
	for n in 1 2 5 9 12 24 31; do
		[ "$n" -lt "${#form}" ] || continue
		right+=("${form:0:n}")
		wrong+=("$(printf '~%.0s' $(seq "$n"))")
	done
done
for way in h1 h2 ws; do
	is "$way: the beginning of a credential comes back as any text does" "$(inside "$way" "${right[@]}")" "$(inside "$way" "${wrong[@]}")"
done
is "... in two chunks" "$(inside h1 sk-Test)" "chunks 1 7 as it was"
like "... and a websocket's message after the same while" "$(inside ws sk-Test zz-Zzzz)" $'^reads 3 7 late\nreads 3 7 late$'
is "a whole credential is still found" "$(inside h1 "$secret"; inside h1 "x$secret")" "chunks 1 32 changed"$'\n'"chunks 1 33 changed"

# A workload that reads slowly stops the server wherever it likes: that is no pause of the server's, after which what is held goes out.
is "who reads slowly gets no part of a credential" "$(inside slowly 1000 "${secret:0:8}")" "0"

hex() { printf '%b' "$1" | od -An -tx1 | tr -d ' \n'; }
ms=$(inside delay "$(hex 'data: {"delta":"hello sk-Test"}\n\n')")
ok "an event of a stream of events passes at once ($ms ms)" test "$ms" -lt 40
ms=$(inside delay "$(hex '\x00\x00\x00\x00\x05hello')")
ok "a message that ends in text arrives after the scrubber's pause ($ms ms)" test "$ms" -ge 25 -a "$ms" -lt 150
finish
