#!/bin/bash
# An installed Cordon: its programs are apart (bin, libexec/cordon) and find each other, wherever the prefix is.
. "$(dirname "$0")/../gate_lib.sh"

inst=$tmp/inst
plan=$CORDON_BUILD/meson-info/intro-install_plan.json

# Puts the programs where the build says that they are installed; without meson, which would write into the build folder.
install_programs()
{
	python3 - "$plan" "$inst" "$(dirname "$CORDON")" <<'PY'
import json, os, shutil, sys
plan, prefix, build = sys.argv[1:]
for source, how in json.load(open(plan))["targets"].items():
    to = how["destination"].replace("{bindir}", "bin").replace("{libexecdir}", "libexec")
    to = os.path.join(prefix, to)
    os.makedirs(os.path.dirname(to), exist_ok=True)
    shutil.copy(os.path.join(build, os.path.basename(source)), to)
PY
}

installed() { (cd "$inst" && find . -type f "$@" -printf '%P\n' | LC_ALL=C sort | tr '\n' ' '); }

ok "the programs are installed" install_programs
is "cordon is in bin, what it starts is in libexec/cordon" "$(installed)" \
	"bin/cordon libexec/cordon/cordon-acp libexec/cordon/cordon-agent libexec/cordon/cordon-egress libexec/cordon/cordon-init libexec/cordon/cordon-relay libexec/cordon/cordon-unpack libexec/cordon/cordon-vault "
ok "the manual and the completions are installed" "$tests_dir/../scripts/install-docs.sh" "$inst/bin" "$inst"
is "all formats have their page" "$(installed -path '*/man5/*')" "share/man/man5/cordon-agents.5 share/man/man5/cordon-compose.5 share/man/man5/cordon-credentials.5 share/man/man5/cordon-policy.5 "

cat >"$tmp/net.yaml" <<'Y'
version: 1
extends: [default]
network:
  mode: allowlist
  allow:
    - host: tunnel.test
    - host: api.test
      methods: [GET]
Y
start_upstream tunnel.test api.test || finish
CORDON=$inst/bin/cordon
is "a run has its network" "$(run "$tmp/net.yaml" curl -sS -m 20 https://tunnel.test/one 2>&1)" "hello from tunnel.test/one"
is "and the vault its certificates" "$(run "$tmp/net.yaml" curl -sS -m 20 https://api.test/two 2>&1)" "hello from api.test/two"
ln -s "$inst/bin/cordon" "$tmp/cordon"
CORDON=$tmp/cordon
is "so has one that was started by a symbolic link" "$(run "$tmp/net.yaml" curl -sS -m 20 https://tunnel.test/three 2>&1)" "hello from tunnel.test/three"
CORDON=$inst/bin/cordon
for role in relay egress vault; do
	mv "$inst/libexec/cordon/cordon-$role" "$tmp/aside"
	is "without cordon-$role a run with a network does not start, and says why" "$(run "$tmp/net.yaml" echo started 2>&1 | grep -oE "^started|cordon-$role is not beside this program nor in")" \
		"cordon-$role is not beside this program nor in"
	mv "$tmp/aside" "$inst/libexec/cordon/cordon-$role"
done
rm "$inst"/libexec/cordon/cordon-{relay,egress,vault}
is "a run without network needs none of them" "$("$CORDON" run --workdir "$work" -- echo started 2>&1)" "started"
finish
