#!/bin/bash
# audit verify and audit show: the log's format as documented, computed here by other means, and every way to tamper with it.
. "$(dirname "$0")/../lib.sh"

zeros=$(printf '0%.0s' {1..64})

# line N PREV EVENT MESSAGE: one line of a log, hashed by sha256sum.
line()
{
	local head hash
	head="{\"time\":$((1700000000000 + $1)),\"event\":\"$3\",\"class_uid\":1007,\"activity_id\":1,\"severity_id\":1,\"disposition\":\"Allowed\",\"run\":\"r-1\",\"seq\":$1,\"verdict\":\"allow\",\"message\":\"$4\",\"prev\":\"$2\""
	hash=$(printf '%s' "$2$head}" | sha256sum | cut -c1-64)
	printf '%s,"hash":"%s"}\n' "$head" "$hash"
}

# log N: N lines, the last an exit event.
log()
{
	local i prev=$zeros kind text
	for ((i = 1; i <= $1; i++)); do
		kind=note
		[ "$i" = 1 ] && kind=start
		[ "$i" = "$1" ] && kind="exit"
		text=$(line "$i" "$prev" "$kind" "message $i")
		prev=${text: -66:64}
		printf '%s\n' "$text"
	done
}

status_of()
{
	"$@" >"$tmp/out" 2>"$tmp/err"
	echo $?
}

verify()
{
	status_of "$CORDON" audit verify "$@"
}

# broken NAME LINE WHAT: the log $tmp/bad is broken at that line, for that reason.
broken()
{
	is "$1: exit status" "$(verify "$tmp/bad")" 1
	like "$1: where and what" "$(cat "$tmp/out")" "^$tmp/bad:$2: $3"
}

log 9 >"$tmp/log"
last=$(tail -n 1 "$tmp/log")
last=${last: -66:64}

is "a log that follows the documented format is good" "$(verify "$tmp/log")" 0
like "and the lines are counted" "$(cat "$tmp/out")" ': 9 lines, every line follows'
is "the hash it must end with can be given" "$(verify --last "$last" "$tmp/log")" 0
is "another hash at the end is a change" "$(verify --last "${zeros%0}1" "$tmp/log")" 1
is "a hash that is none is an error" "$(verify --last xyz "$tmp/log")" 125

sed '4s/message 4/message X/' "$tmp/log" >"$tmp/bad"
broken "a changed line" 4 'changed: its hash does not match'
sed '5d' "$tmp/log" >"$tmp/bad"
broken "a dropped line" 5 'dropped: event 5'
sed '1d' "$tmp/log" >"$tmp/bad"
broken "a dropped first line" 1 'dropped: event 1'
sed '3,5d' "$tmp/log" >"$tmp/bad"
broken "several dropped lines" 3 'dropped: events 3 to 5'
sed '6p' "$tmp/log" >"$tmp/bad"
broken "a duplicated line" 7 'duplicated: it is a copy of line 6'
{ sed -n '1,2p' "$tmp/log"; sed -n 4p "$tmp/log"; sed -n 3p "$tmp/log"; sed -n '5,$p' "$tmp/log"; } >"$tmp/bad"
broken "two lines swapped" 3 'reordered: event 4 stands here, event 3 at line 4'
{ sed -n '1,3p' "$tmp/log"; line 4 "$(sed -n 3p "$tmp/log" | tail -c 67 | head -c 64)" note "never happened"; sed -n '4,$p' "$tmp/log"; } >"$tmp/bad"
broken "an added line with the right hash" 4 'added'
{ cat "$tmp/log"; line 10 "$last" note "after the end"; } >"$tmp/bad"
broken "a line behind the end" 10 'added: it stands behind the exit event'
sed '2s/.*/hello/' "$tmp/log" >"$tmp/bad"
broken "a line that is not JSON" 2 'changed: it is not JSON'
sed '7s/,"seq"/, "seq"/' "$tmp/log" >"$tmp/bad"
broken "a line written again by another program" 7 'changed: it is not in canonical form'
head -c -20 "$tmp/log" >"$tmp/bad"
broken "a last line that is cut off" 9 'cut off'
{ sed -n 1p "$tmp/log"; head -c 70000 /dev/zero | tr '\0' x; echo; sed -n '2,$p' "$tmp/log"; } >"$tmp/bad"
broken "a line that is too long" 2 'added: it is longer'
{ sed -n 1p "$tmp/log"; printf 'a\0b\n'; sed -n '2,$p' "$tmp/log"; } >"$tmp/bad"
broken "a NUL" 2 'added: it holds a NUL byte'

sed '$d' "$tmp/log" >"$tmp/bad"
is "a log without its end" "$(verify "$tmp/bad")" 1
like "is called unfinished" "$(cat "$tmp/out")" ': 8 lines, unfinished: '
is "unless its last hash is known: then lines were dropped" "$(verify --last "$last" "$tmp/bad")" 1
like "and it says where" "$(cat "$tmp/out")" ':9: dropped'
: >"$tmp/bad"
is "an empty log is unfinished" "$(verify "$tmp/bad")" 1

is "a file that is not there" "$(verify "$tmp/nowhere")" 125
is "a folder" "$(verify "$tmp")" 125
is "a device" "$(verify /dev/zero)" 125
mkfifo "$tmp/fifo"
is "a FIFO does not hang it" "$(status_of timeout 5 "$CORDON" audit verify "$tmp/fifo")" 125

sed '4s/message 4/message X/' "$tmp/log" >"$tmp/bad"
is "verify --json is one document" "$("$CORDON" audit verify --json "$tmp/bad" | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["version"], d["state"], d["lines"], d["bad_line"])')" "1 broken 3 4"
is "and for a good log too" "$("$CORDON" audit verify --json "$tmp/log" | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["state"], d["lines"], d["bad_line"], d["last_hash"])')" "good 9 None $last"

is "show has one line an event" "$("$CORDON" audit show "$tmp/log" | wc -l)" 9
is "with local time, domain, verdict and what" "$(TZ=UTC "$CORDON" audit show "$tmp/log" | head -n 1)" '2023-11-14 22:13:20.001 -          allow    start: message 1'

# event BODY: a log of one line with these members in it.
event()
{
	local head hash
	head="{\"time\":1700000000001,$1,\"run\":\"r-1\",\"seq\":1,\"prev\":\"$zeros\""
	hash=$(printf '%s' "$zeros$head}" | sha256sum | cut -c1-64)
	printf '%s,"hash":"%s"}\n' "$head" "$hash" >"$tmp/one"
}

# shows NAME BODY LINE: that is how a person sees it, behind the time.
shows()
{
	event "$2"
	is "$1" "$(TZ=UTC "$CORDON" audit show "$tmp/one" 2>&1)" "2023-11-14 22:13:20.001 $3"
}

shows "a start is its command, policy and work folder" \
	'"event":"start","domain":"process","verdict":"allow","policy_digest":"aa","plan_digest":"bb","isolation":{"runtime":"native"},"workdir":"/w","command":["sh","-c","echo a b"],"policy":"strict","workdir_mode":"copy","pid":7' \
	"process    allow    start: sh -c 'echo a b'; policy strict; work folder /w (copy)"
shows "a denial is its target and its rule" \
	'"event":"denial","domain":"filesystem","verdict":"deny","rule":"filesystem.deny **/.env (built in)","target":"/w/.env"' \
	'filesystem deny     /w/.env; rule: filesystem.deny **/.env (built in)'
shows "many denials in one line are counted" \
	'"event":"denial","verdict":"deny","rule":"several","message":"too fast","count":12' '-          deny     12 too fast; rule: several'
shows "an end is its status and what was used" \
	'"event":"exit","domain":"process","exit":124,"usage":{"user_us":1500000,"system_us":500000,"max_rss_kib":2048,"denials":1},"limit":"process.timeout"' \
	'process    -        exit 124; 2.000 s of CPU, 2.0 MiB of memory, 1 denial; ended by process.timeout'
shows "what has no form of its own is shown with all it says" \
	'"event":"note","domain":"network","verdict":"allow","message":"hello","host":"a.example","port":443,"tags":["x"]' \
	'network    allow    note: hello host=a.example port=443 tags=["x"]'
shows "escape codes and line breaks of the workload stay text" \
	'"event":"denial","domain":"filesystem","verdict":"deny","rule":"r","target":"/\u001b[2J\n"' \
	'filesystem deny     /\x1b[2J\x0a; rule: r'
shows "a start event of another shape is shown all the same" '"event":"start","domain":"process","command":{"a":1}' 'process    -        start: '
long=$(printf 'x%.0s' {1..5000})
event "\"event\":\"denial\",\"domain\":\"filesystem\",\"verdict\":\"deny\",\"rule\":\"r\",\"target\":\"/$long\""
ok "a line stays short whatever the workload names" test "$("$CORDON" audit show "$tmp/one" | wc -c)" -lt 400
is "--json has all of it" "$("$CORDON" audit show --json "$tmp/one" | cmp - "$tmp/one" && echo same)" same
# Older logs have such characters as they were, newer ones escaped; the hash is of what stands there.
odd=$'\u009b2J\u202e\u2028\u2066'
event "\"event\":\"denial\",\"domain\":\"filesystem\",\"verdict\":\"deny\",\"rule\":\"r\",\"target\":\"/$odd\""
is "what a terminal would obey is no fault in an older log" "$(status_of "$CORDON" audit show "$tmp/one")" 0
steering=$'\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]'
steers()
{
	LC_ALL=C grep -aqP "$steering"
}
ok "without --json's care it would come to the terminal" steers <"$tmp/one"
"$CORDON" audit show --json "$tmp/one" >"$tmp/shown"
is "--json escapes it" "$(steers <"$tmp/shown" && echo raw)" ""
is "... and says the same" "$(python3 -c 'import json,sys
print(json.load(open(sys.argv[1])) == json.load(open(sys.argv[2])))' "$tmp/one" "$tmp/shown")" True
event '"event":"denial","domain":"filesystem","verdict":"deny","rule":"r","target":"/\u009b2J\u202e"'
is "escaped in the log it is right, too" \
	"$("$CORDON" audit show --json "$tmp/one" | cmp - "$tmp/one" && echo same)" same
event '"event":"denial","domain":"filesystem","verdict":"deny","rule":"r","target":"/\u00e9"'
ok "what needs no escape has none" sh -c '! "$1" audit show --json "$2" 2>/dev/null' sh "$CORDON" "$tmp/one"
event '"event":"denial","domain":"filesystem","verdict":"deny","rule":"r","target":"/x"'
ok "colours are for terminals" sh -c '! "$1" audit show "$2" | grep -q "$(printf "\033")"' - "$CORDON" "$tmp/log"
if command -v script >/dev/null; then
	at_terminal=$(TERM=xterm script -qec "env -u NO_COLOR $CORDON audit show $tmp/one" /dev/null </dev/null)
	like "at a terminal a denial is red" "$at_terminal" $'\e\\[31m deny'
	no_color=$(TERM=xterm script -qec "env NO_COLOR=1 $CORDON audit show $tmp/one" /dev/null </dev/null)
	ok "unless NO_COLOR is set" sh -c 'case $1 in *"$(printf "\033")"*) exit 1 ;; esac' - "$no_color"
fi
is "show --json passes good lines through" "$("$CORDON" audit show --json "$tmp/log" | cmp - "$tmp/log" && echo same)" same
is "and ends at the first bad one" "$("$CORDON" audit show --json "$tmp/bad" 2>/dev/null | wc -l)" 3
is "with status 1" "$(status_of "$CORDON" audit show --json "$tmp/bad")" 1
like "naming it" "$(cat "$tmp/err")" "^cordon: $tmp/bad:4: changed"
# Every line of a run, be it a start, a denial or an end, has the members that scripts ask for.
mkdir -p "$tmp/fields" && cd "$tmp/fields" || exit 2
"$CORDON" run --json-events "$tmp/events" -- sh -c 'echo x >.env; kill -TERM $$' 2>/dev/null
is "each event has all members of the contract" "$(python3 -c '
import json, sys
want = "time class_uid activity_id severity_id disposition run seq domain verdict rule prev hash".split()
lines = [json.loads(line) for line in open(sys.argv[1])]
print(sorted({e["event"] for e in lines}), [k for e in lines for k in want if k not in e])' "$tmp/events")" "['denial', 'exit', 'start'] []"
finish
