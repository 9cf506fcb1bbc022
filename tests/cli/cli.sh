#!/bin/bash
# The command line itself: what a person sees before any verb does its work.
. "$(dirname "$0")/../lib.sh"

# said ARGS...: "STATUS|stdout|stderr"
said()
{
	local out err status
	out=$("$CORDON" "$@" 2>"$tmp/err")
	status=$?
	err=$(cat "$tmp/err")
	printf '%s|%s|%s' "$status" "$out" "$err"
}

like "--version prints the version" "$(said --version)" '^0\|cordon [0-9]+\.[0-9]+\.[0-9]+\|$'
like "--help lists the commands on stdout" "$(said --help)" '^0\|usage: cordon.*completion.*\|$'
is "help without a command is --help" "$("$CORDON" help)" "$("$CORDON" --help)"
is "help COMMAND is COMMAND --help" "$("$CORDON" help completion)" "$("$CORDON" completion --help)"
is "no command at all is refused" "$(said)" '125||cordon: no command given; see cordon --help'
is "an unknown command is answered with a guess" "$(said compeltion)" '125||cordon: unknown command "compeltion"; did you mean "completion"?'
is "help for an unknown nested command is answered with a guess" "$(said help policy chek)" '125||cordon: policy: unknown command "chek"; did you mean "policy check"?'
is "help for an unknown command is answered with a guess" "$(said help rnu)" '125||cordon: unknown command "rnu"; did you mean "run"?'
is "help for a command and more is refused" "$(said help run fast)" '125||cordon: help: "run" has no further commands; see cordon help run'
is "an option before the command is called one" "$(said --json ps)" '125||cordon: unknown option "--json"; options stand behind their command: see cordon --help'
is "an empty value is refused, not guessed at" "$(said run --policy '' -- true)" '125||cordon: run: the value of --policy is empty; give a value (FILE)'
is "also behind =" "$(said run --profile= -- true)" '125||cordon: run: the value of --profile is empty; give a value (NAME)'
is "usage in an error is usage in --help" "$(said logs)" "125||cordon: logs: an argument is missing; $("$CORDON" logs --help | head -n 1)"
like "a work folder that is a file is called one" "$(cd / && said run --workdir /etc/passwd -- true)" '^125\|\|cordon: work folder /etc/passwd: is not a folder'
is "an unknown option is answered with a guess" "$(said completion --hlp)" '125||cordon: completion: unknown option --hlp; did you mean --help?'
is "an escape sequence in an argument is not echoed" "$(said $'\e[2J')" '125||cordon: unknown command "\x1b[2J"; see cordon --help'
is "a full disk is reported" "$("$CORDON" --help 2>&1 >/dev/full; echo $?)" $'cordon: cannot write the output to standard output: No space left on device\n125'
is "a closed stdout is reported" "$("$CORDON" --help 2>&1 >&-; echo $?)" $'cordon: cannot write the output: standard output is closed\n125'

broken_pipe()
{
	# The reader is gone before the first byte is written.
	{ sleep 0.3; "$@" 2>"$tmp/err"; echo $? >"$tmp/status"; } | true
	cat "$tmp/status" "$tmp/err"
}
is "who reads no further is no failure: it ends as other tools do" "$(broken_pipe "$CORDON" --help)" 141
is "nor where more is to be said than is kept back" "$(broken_pipe "$CORDON" policy show strict)" 141
is "who ignores SIGPIPE is told" "$(trap '' PIPE; broken_pipe "$CORDON" --help)" $'125\ncordon: cannot write the output to standard output: Broken pipe'
is "what went wrong is told whoever reads" "$(broken_pipe "$CORDON" logs no-such-run | tr '\n' ' ' | cut -c1-12)" "125 cordon: "
is "a shell that is not known is not taken for another" "$(said completion tcsh)" '125||cordon: completion: "tcsh" is none of bash, zsh, fish'
like "rm -f ID says what -f is" "$(said rm -f 0123)" '^125\|\|cordon: rm: -f is --finished, all runs'

narrow()
{
	local verb
	"$CORDON" man --list | while IFS= read -r verb; do
		# shellcheck disable=SC2086 # "policy check" is two words
		"$CORDON" $verb --help
	done
	"$CORDON_BUILD/cordon-agent" --help
	"$CORDON_BUILD/cordon-acp" --help
}
is "no help is wider than 80 columns" "$(narrow | awk 'length > 80')" ""
is "help names the exit status of apply" "$("$CORDON" apply --help | grep -c 125)" 1
is "it works with no standard fd at all" "$("$CORDON" --version <&- >&- 2>&-; echo $?)" 125

no_colour_in_a_pipe()
{
	local v
	for v in --help --version completion; do
		! "$CORDON" help "$v" 2>&1 | grep -q $'\e' || return
	done
}
ok "output that is no terminal has no colours" no_colour_in_a_pipe

# A choice that does not exist is answered with those that do.
like "--runtime lists its choices" "$(said run --runtime bogus -- true)" '^125\|\|cordon: --runtime: "bogus" is none of auto, native, gvisor, runc, crun, docker$'
like "--runtime guesses" "$(said run --runtime natve -- true)" 'did you mean "native"\?$'
like "--category lists its choices" "$(said run --category bogus -- true)" '"bogus" is none of file_system, .*, other'
like "--category guesses" "$(said run --category terminl -- true)" 'did you mean "terminal"\?$'
like "--profile lists its choices" "$(said run --profile nope -- true)" 'there is no profile "nope"; there are aider, .*, task; a file is named by its path'
like "--profile guesses and lists" "$(said run --profile stict -- true)" 'did you mean "strict"\? There are aider, .*task$'
like "policy import --from lists its choices" "$(said policy import --from x /dev/null)" '"x" is none of synthorg, openshell, srt'
own_profile_guessed()
{
	mkdir -p "$tmp/own/cordon/profiles" && echo 'version: 1' >"$tmp/own/cordon/profiles/house-rules.yaml"
	touch "$tmp/own/cordon/profiles/"{.hidden,not-one.txt}
	tap_matches "$(XDG_CONFIG_HOME=$tmp/own said run --profile house-rule -- true)" 'did you mean "house-rules"\? There are .*, house-rules$'
}
ok "an operator's own profile is guessed and listed" own_profile_guessed

# Every line of `cordon man --list` but the first (the overview) is a verb.
mapfile -t all_verbs < <("$CORDON" man --list | sed 1d)

every_verb_helps()
{
	local v
	for v in "${all_verbs[@]}"; do
		# shellcheck disable=SC2086 # "policy check" is two words
		"$CORDON" $v --help >"$tmp/help" || return
		grep -q "^usage: cordon $v" "$tmp/help" || { echo "$v"; return 1; }
	done
}
ok "every command has --help" every_verb_helps

repeated_once()
{
	local v
	for v in run env "policy show"; do
		# shellcheck disable=SC2086
		{ "$CORDON" $v --help; "$CORDON" man $v; } >"$tmp/both"
		grep -qi 'may be given more than once' "$tmp/both" && return 1
		# shellcheck disable=SC2086
		tap_same "$("$CORDON" man $v | grep -ci 'repeated')" "$("$CORDON" $v --help | grep -ci 'repeated')" || return
	done
	[ "$("$CORDON" man run | grep -ci repeated)" = 3 ]
}
ok "what may be repeated is said once for each option" repeated_once

lint=()
command -v mandoc >/dev/null && lint=(mandoc -Tlint -Wwarning)
# `man` rather than groff: it is what users have. It prints its warnings and still succeeds.
[ ${#lint[@]} -gt 0 ] || ! command -v man >/dev/null || lint=(man --warnings -l)
lint_page()
{
	local found
	found=$("${lint[@]}" "$1" 2>&1 >"$tmp/rendered")
	[ "${lint[0]}" = mandoc ] && found=$found$(cat "$tmp/rendered")
	found=$(grep -v 'missing date' <<<"$found")
	[ -z "$found" ] || { printf '%s\n' "$found"; return 1; }
}

man_pages()
{
	local v page
	mkdir -p "$tmp/man"
	for v in "" "${all_verbs[@]}"; do
		page=$tmp/man/cordon${v:+-${v// /-}}.1
		# shellcheck disable=SC2086
		"$CORDON" man $v >"$page" || return
		lint_page "$page" || return
	done
}
if [ ${#lint[@]} -gt 0 ]; then
	ok "every command has a man page without a warning" man_pages
	ok "cordon-policy(5) has no warning" lint_page "$tests_dir/../man/cordon-policy.5"
	ok "cordon-credentials(5) has no warning" lint_page "$tests_dir/../man/cordon-credentials.5"
	ok "cordon-agents(5) has no warning" lint_page "$tests_dir/../man/cordon-agents.5"
	ok "cordon-compose(5) has no warning" lint_page "$tests_dir/../man/cordon-compose.5"
else
	skip "every command has a man page without a warning" "neither mandoc nor man is installed"
	skip "cordon-policy(5), cordon-credentials(5), cordon-agents(5) and cordon-compose(5) have no warning" "neither mandoc nor man is installed"
fi

# completes WORDS...: what bash offers for the last word, one a line.
completes()
{
	# shellcheck disable=SC2016
	PATH="$(dirname "$CORDON"):$PATH" bash -c '
		source <(cordon completion bash)
		COMP_WORDS=(cordon "$@") COMP_CWORD=$#
		_cordon
		printf "%s\n" "${COMPREPLY[@]}"' _ "$@" | sort -u
}
offers()
{
	local want=$1 got
	shift
	got=$(completes "$@")
	grep -qxF -e "$want" <<<"$got" || { printf 'offered for "%s": %s\n' "$*" "$got"; return 1; }
}
is_verb()
{
	printf '%s\n' "${all_verbs[@]}" | grep -qx "$1"
}

is "bash completes commands" "$(completes compl)" completion
ok "bash completes options" offers --help completion --
is "bash completes fixed words" "$(completes completion '' | tr '\n' ' ')" 'bash fish zsh '
is "bash offers nothing for an unknown command" "$(completes nonsense '')" ""
own_profiles()
{
	mkdir -p "$tmp/config/cordon/profiles" && touch "$tmp/config/cordon/profiles/mine.yaml"
	XDG_CONFIG_HOME=$tmp/config offers mine run --profile mi
}
if is_verb run; then
	touch "$tmp/a policy.yaml"
	ok "bash completes profiles" offers strict run --profile str
	ok "bash completes profiles behind =" offers strict run --profile = str
	ok "bash completes runtimes" offers gvisor run --runtime ''
	ok "bash completes files with spaces" offers "$tmp/a policy.yaml" run --policy "$tmp/a"
	ok "bash completes CMD behind --" offers true run -- tru
	ok "bash completes CMD without --" offers true run --profile strict tru
	ok "bash completes an operator's own profiles" own_profiles
fi
if is_verb "policy check"; then
	ok "bash completes nested commands" offers check policy che
fi
for shell in zsh fish; do
	"$CORDON" completion "$shell" >"$tmp/completion.$shell"
	if command -v "$shell" >/dev/null; then
		ok "the completion for $shell is well-formed" "$shell" -n "$tmp/completion.$shell"
	else
		skip "the completion for $shell is well-formed" "$shell is not installed"
	fi
done
if command -v fish >/dev/null; then
	like "fish completes commands" "$(HOME=$tmp fish -c "source $tmp/completion.fish; complete -C 'cordon compl'" 2>&1)" '^completion'
	is "fish offers profiles for --profile, and no files" "$(cd "$tests_dir" && HOME=$tmp fish -c "source $tmp/completion.fish; complete -C 'cordon run --profile '" 2>&1 | cut -f1 | sort | tr '\n' ' ')" "$(cd "$tests_dir/../profiles" && printf '%s\n' *.yaml | sed 's/.yaml$//' | sort | tr '\n' ' ')"
	like "fish completes options" "$(HOME=$tmp fish -c "source $tmp/completion.fish; complete -C 'cordon completion --he'" 2>&1)" '^--help'
fi
is "an unknown shell is refused" "$(said completion powershell)" '125||cordon: completion: "powershell" is none of bash, zsh, fish'

shipped_profiles_complete()
{
	local f
	for f in "$tests_dir"/../profiles/*.yaml; do
		[ -e "$f" ] || continue
		f=${f##*/}
		"$CORDON" completion bash | grep -qE "profile\) words='.*\b${f%.yaml}\b" || { echo "$f"; return 1; }
	done
}
ok "every shipped profile completes" shipped_profiles_complete
ok "cordon.1 names the operator's files" sh -c '"$1" man >"$2" && grep -q credentials.yaml "$2" && grep -q gateway.yaml "$2" && grep -q cordon/agents/ "$2" && grep -q cordon/images/ "$2"' - "$CORDON" "$tmp/page"
ok "man/cordon.1 is what the program prints" "$tests_dir/../scripts/man.sh" --check "$CORDON"
finish
