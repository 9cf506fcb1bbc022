#!/bin/bash
# What Cordon says to somebody who begins: where a name, a folder or a rule is not what was meant, it says so, and what helps.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

# lacks TEXT REGEX
lacks()
{
	printf 'got: %s\nwhich matches: %s\n' "$1" "$2"
	! [[ $1 =~ $2 ]]
}

config=$tmp/config/cordon
mkdir -p "$config/profiles"

# --- names that are not read ---

printf 'version: 1\nprocess: {timeout: 1m}\n' >"$config/policy.yml"
outside "$CORDON" run -- true
ok "a ceiling that is called policy.yml is refused, not passed over" refused 125 'policy\.yml: is not read under this name; rename it to policy\.yaml'
rm "$config/policy.yml"
outside "$CORDON" run -- true
is "... and once it is gone a run starts" "$status" 0
ln -s nowhere "$config/policy.yml"
outside "$CORDON" run -- true
ok "... also where that run is remembered, and the name is a link that leads nowhere" refused 125 'rename it to policy\.yaml'
printf 'version: 1\n' >"$config/policy.yaml"
outside "$CORDON" run -- true
is "... beside one with the right name it is nobody's" "$status:$told" 0:
rm "$config/policy.yml" "$config/policy.yaml"
policy <<'END'
network: {mode: allowlist, allow: [{host: example.test}]}
END
for name in credentials gateway; do
	printf 'version: 1\n' >"$config/$name.yml"
	inside true
	ok "$name.yml is refused where $name.yaml is read" refused 125 "$name\\.yml: is not read under this name; rename it to $name\\.yaml"
	rm "$config/$name.yml"
done
printf 'version: 1\n' >"$config/profiles/mine.yml"
outside "$CORDON" run --profile mine -- true
ok "so is a profile" refused 125 'profiles/mine\.yml: is not read under this name; rename it to mine\.yaml'
rm "$config/profiles/mine.yml"
printf 'version: 1\n' >p.yaml
for name in p.yaml ./p.yaml; do
	outside "$CORDON" run --profile "$name" -- true
	ok "--profile with the path of a file ($name) names the option that takes it" refused 125 "\"$name\" is no profile's name; a file is named with --policy $name\$"
done
outside "$CORDON" run -p strict -- true
ok "--policy with the name of a profile names the option that takes it" refused 125 'strict: there is no such file; did you mean --profile strict\?'
printf 'version: 1\nextends: [./none.yaml]\n' >p.yaml
outside "$CORDON" run -p p.yaml -- true
ok "a file that extends nothing names what it looked for once" refused 125 'p\.yaml:2:11: extends: \./none\.yaml: there is no such file'
printf 'version: 1\nnetwrok: {}\n' >typo.yaml
printf 'version: 1\nextends: [./typo.yaml]\n' >p.yaml
outside "$CORDON" run -p p.yaml -- true
ok "... and an error in one that it extends has a path without ./ in it" refused 125 '/work/typo\.yaml:2:1: '
rm p.yaml typo.yaml

finish
