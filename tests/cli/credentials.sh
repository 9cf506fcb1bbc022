#!/bin/bash
# credentials.yaml as the command line sees it: what a policy lacks is told before a run, placeholders are shown by name, and the files that hold values are hidden from every run.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

config=$XDG_CONFIG_HOME/cordon
mkdir -p "$config" && chmod 700 "$config"
credentials()
{
	{
		echo 'version: 1'
		cat
	} >"$config/credentials.yaml"
	chmod 600 "$config/credentials.yaml"
}
check()
{
	outside "$CORDON" policy check "$tmp/policy.yaml"
}
says()
{
	check
	like "$1" "$status $told" "^0 .*warning: .*$2"
}
quiet()
{
	check
	is "$1" "$status:$told" "0:"
}

# --- policy check knows what a run would refuse
policy <<'END'
network:
  mode: allowlist
  allow:
    - {host: a.example, ports: [443]}
    - host: b.example
      credential: nobody-has-it
END
says "check: a credential that is not in credentials.yaml, by file and line" 'policy.yaml:7: credential nobody-has-it is not in .*/credentials.yaml'
is "check --json says it too" "$("$CORDON" policy check --json "$tmp/policy.yaml" | python3 -c 'import json,sys; print(sum("policy.yaml:7: credential nobody-has-it" in w for w in json.load(sys.stdin)["warnings"]))')" 1
credentials <<'END'
credentials:
  nobody-has-it: {from: {env: NOT_SET}, hosts: [b.example], inject: {bearer: true}}
END
quiet "check: it is not said once it is there"
credentials <<'END'
credentials:
  nobody-has-it: {from: {env: NOT_SET}, hosts: [c.example, "*.b.example"], inject: {bearer: true}}
END
says "check: a credential that is bound to hosts where no rule leads that names it" 'policy.yaml:7: credential nobody-has-it would never be sent: credentials.yaml binds it to c.example and 1 more'
credentials <<'END'
credentials:
  nobody-has-it: {from: {env: NOT_SET}, hosts: ["*.example"], inject: {bearer: true}}
END
quiet "check: ... and not where one of them is the rule's, by a pattern"
echo 'nonsense: 1' >>"$config/credentials.yaml"
says "check: a credentials.yaml that cannot be read" 'credentials.yaml:4:1: nonsense: unknown key'
rm "$config/credentials.yaml"
policy <<'END'
inference: {providers: {anthropic: {credential: anthropic}}}
END
quiet "check: the well-known keys need no credentials.yaml"
policy <<'END'
inference: {providers: {anthropic: {credential: other}}}
END
says "check: a provider's credential" 'policy.yaml:2: credential other is not in'
policy <<'END'
inference: {providers: {anthropic: {credential: key}}}
END
credentials <<'END'
credentials:
  key: {from: {env: NOT_SET}, hosts: [elsewhere.example], inject: {bearer: true}}
END
says "check: a provider's credential that is bound elsewhere" 'credential key would never be sent'
sed -i 's/elsewhere.example/api.anthropic.com/' "$config/credentials.yaml"
quiet "check: ... and where it is the provider's own"
rm "$config/credentials.yaml"
policy <<'END'
inference:
  providers:
    openai: {models: ["gpt-*"]}
    local: {kind: openai, url: "http://127.0.0.1:8000/v1"}
END
says "check: a second provider of a kind without a variable of its own" 'policy.yaml:[0-9]+: provider (local|openai) has no variable inside: OPENAI_BASE_URL is that of (openai|local)'
sed -i 's|8000/v1"|&, base_url_env: LOCAL_BASE_URL|' "$tmp/policy.yaml"
quiet "check: ... and with one"
policy <<'END'
inference:
  providers:
    openai: {models: ["gpt-*"]}
    local: {kind: openai, url: "http://127.0.0.1:8000/v1"}
  routes: [{model: "local-*", provider: local}]
END
quiet "check: ... nor one that models are routed to"
policy <<'END'
process: {env: {pass: [TERM, LD_PRELOAD]}}
END
says "check: a variable that can never be passed" 'policy.yaml:2: process.env.pass: LD_PRELOAD can never be passed'
policy <<'END'
network:
  mode: allowlist
  loopback: false
  allow: [{host: a.example}]
END
says "check: no loopback, and a gateway that is reached by it" 'policy.yaml:4: network.loopback: false leaves no way to the gateway'
policy <<'END'
network: {mode: none, loopback: false}
END
quiet "check: no loopback without a gateway is fine"

# --- rules under a mode of none
policy <<'END'
network:
  mode: none
  allow:
    - host: a.example
END
says "check: rules under a mode of none" 'policy.yaml:5: network.allow has no effect, since network.mode is none \(line 3\)'
inside true
is "run says it in one line, and runs" "$status:$(grep -c 'policy.yaml:5: network.allow has no effect' "$tmp/err"):$(grep -c '' "$tmp/err")" "0:1:1"
policy <<'END'
network: {mode: none, ask: true}
END
says "check: asking under a mode of none" 'policy.yaml:2: network.ask has no effect'
cat >"$tmp/base.yaml" <<'END'
version: 1
network: {mode: allowlist, allow: [{host: a.example}]}
END
policy <<'END'
extends: [./base.yaml]
network: {mode: none}
END
quiet "check: a mode of none on top of another file's rules is what it is for"
policy <<'END'
extends: [./base.yaml]
network: {mode: none, allow: [{host: b.example}]}
END
says "check: ... unless that file has rules as well" 'policy.yaml:3: network.allow has no effect'

# --- env
credentials <<'END'
credentials:
  token: {from: {env: HOST_TOKEN}, hosts: [a.example], inject: {bearer: true}, env: INSIDE_TOKEN}
  aws: {from: {env: [HOST_ID, HOST_SECRET]}, hosts: [s3.example], inject: {sigv4: {region: x, service: s3}}}
  unused: {from: {env: HOST_UNUSED}, hosts: [c.example], inject: {bearer: true}}
END
policy <<'END'
network:
  mode: allowlist
  allow: [{host: a.example, credential: token}, {host: s3.example, credential: aws}]
inference: {providers: {openai: {credential: openai}}}
END
export HOST_TOKEN=FAKE-VALUE-1 HOST_ID=FAKE-VALUE-2 HOST_SECRET=FAKE-VALUE-3 OPENAI_API_KEY=FAKE-VALUE-4 HOST_UNUSED=FAKE-VALUE-5
outside "$CORDON" env --policy "$tmp/policy.yaml"
for v in 'INSIDE_TOKEN +placeholder for credential token' 'AWS_ACCESS_KEY_ID +placeholder for credential aws' 'AWS_SECRET_ACCESS_KEY +placeholder for credential aws' 'OPENAI_API_KEY +placeholder for credential openai'; do
	like "env: $v" "$said" "$v"
done
is "env: one that no rule names is not among them" "$(grep -c 'credential unused' <<<"$said")" 0
is "env: no value is shown" "$(grep -c FAKE <<<"$said$told")" 0
outside "$CORDON" env --json --policy "$tmp/policy.yaml"
is "env --json has the names, and no value" "$(python3 -c 'import json,sys
print(sorted((e["name"], e["placeholder_for"], "value" in e) for e in json.load(sys.stdin)["in"] if "placeholder_for" in e))' <<<"$said") $(grep -c FAKE <<<"$said")" \
	"[('AWS_ACCESS_KEY_ID', 'aws', False), ('AWS_SECRET_ACCESS_KEY', 'aws', False), ('INSIDE_TOKEN', 'token', False), ('OPENAI_API_KEY', 'openai', False)] 0"
policy <<'END'
network: {mode: none}
END
outside "$CORDON" env --policy "$tmp/policy.yaml"
is "env: none where no gateway runs" "$(grep -c 'placeholder for' <<<"$said")" 0

# --- the files that hold values, in a run without a gateway
mkdir -p keys "$HOME/held" "$tmp/real"
echo FAKE-VALUE-6 >keys/token
echo FAKE-VALUE-7 >"$HOME/held/token"
ln keys/token other-name
ln "$HOME/held/token" from-home
ln -s real "$tmp/way"
chmod 600 keys/token "$HOME/held/token"
credentials <<END
credentials:
  here: {from: {file: "$work/keys/token"}, hosts: [a.example], inject: {bearer: true}}
  home: {from: {file: ~/held/token}, hosts: [a.example], inject: {bearer: true}}
  later: {from: {file: "$work/keys/later"}, hosts: [a.example], inject: {bearer: true}}
  linked: {from: {file: "$tmp/way/token"}, hosts: [a.example], inject: {bearer: true}}
END
echo FAKE-VALUE-8 >"$tmp/real/token"
policy <<END
filesystem: {workdir: read-write, read: ["~/held", "$tmp/real"]}
END
inside_fails "hidden: a file in the work folder" 'Permission denied' cat keys/token
inside_fails "hidden: ... under another name" 'Permission denied' cat other-name
inside_fails "hidden: a file in a folder that the policy shows" 'Permission denied' cat "$HOME/held/token"
inside_fails "hidden: ... under its other name in the work folder" 'Permission denied' cat from-home
inside_fails "hidden: a file behind a link" 'Permission denied' cat "$tmp/real/token"
inside_fails "hidden: one that is not there yet cannot be made" 'Permission denied|denied' sh -c 'echo planted >keys/later'
inside_works "what lies beside them is free" sh -c 'echo x >keys/beside'
echo 'nonsense: 1' >>"$config/credentials.yaml"
inside true
ok "a credentials.yaml that cannot be read ends every run: what to hide is not known" refused 125 'credentials.yaml:.*nonsense'
finish
