#!/bin/bash
# The TOML parser (conf/toml.h) against the public suite, toml-test. Debian has it in golang-github-burntsushi-toml-dev; TOML_TEST=FOLDER takes a newer one: its tests/, with the list files-toml-1.0.0.
. "$(dirname "$0")/lib.sh"
debian=/usr/share/gocode/src/github.com/BurntSushi/toml/internal/toml-test/tests
suite=${TOML_TEST:-$debian}
decode=$CORDON_BUILD/tests/toml-decode
list=$suite/files-toml-1.0.0
later=()
# Without the list: what is TOML of a later version.
[ -e "$list" ] || { list=-; later=(valid/string/escape-esc.toml); }

if [ -d "$suite/valid" ]; then
	ok "toml-test's files for TOML 1.0 are read, and refused, as they should be" python3 "$tests_dir/tools/toml_suite.py" "$decode" "$suite" "$list" "${later[@]}"
else
	skip "toml-test's files for TOML 1.0 are read, and refused, as they should be" "its suite is not here (golang-github-burntsushi-toml-dev)"
fi
is "a decoder as toml-test wants one" "$(echo 'a.b = [1, 0xF]' | "$decode")" '{"a":{"b":[{"type":"integer","value":"1"},{"type":"integer","value":"15"}]}}'
finish
