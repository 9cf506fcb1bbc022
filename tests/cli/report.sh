#!/bin/bash
# run --report: the page is whole, says what happened, loads nothing, and believes nothing that a run wrote.
. "$(dirname "$0")/../lib.sh"

mkdir -p "$tmp/home" "$tmp/state" "$tmp/work"
export HOME=$tmp/home XDG_STATE_HOME=$tmp/state XDG_CACHE_HOME=$tmp/cache XDG_CONFIG_HOME=$tmp/config
cd "$tmp/work" || exit 99
page=$tmp/page.html

# run ARG...: a run under the strict profile; prints the exit status.
run()
{
	"$CORDON" run --profile strict "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	echo $?
}

has()
{
	grep -qF -- "$1" "$page" || { echo "not in the page: $1"; return 1; }
}

has_not()
{
	! grep -qiE -- "$1" "$page" || { grep -iE -- "$1" "$page"; return 1; }
}

# Tags are balanced, every attribute is of a known kind, and nothing refers to anything.
well_formed()
{
	python3 - "$page" <<'PY'
import base64, hashlib, re, sys
from html.parser import HTMLParser
text = open(sys.argv[1], encoding="utf-8").read()
stack, void, seen = [], {"meta"}, set()
class P(HTMLParser):
    def handle_starttag(self, tag, attrs):
        seen.add(tag)
        assert tag in {"html","head","meta","title","style","body","main","header","h1","h2","h3","div","b","span","section","pre","dl","dt","dd","table","tr","th","td","ul","li","p","code"}, tag
        for k, v in attrs:
            assert k in {"lang","charset","http-equiv","content","name","class"}, (tag, k, v)
        if tag not in void: stack.append(tag)
    def handle_endtag(self, tag):
        assert stack.pop() == tag, tag
P().feed(text)
assert not stack, stack
style = re.search(r"<style>(.*?)</style>", text, re.S).group(1)
digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
assert f"default-src 'none'; style-src 'sha256-{digest}'" in text, "the style sheet is not the one that is allowed"
assert "url(" not in style and "@import" not in style
assert all(c in "\n\t" or ord(c) >= 32 for c in text), "control bytes"
PY
}

if [ "$(run -- true)" != 0 ]; then
	skip "all of it" "no sandbox can be started here: $(head -n 1 "$tmp/err")"
	finish
fi

is "the exit status is the command's" "$(run --report "$page" -- sh -c 'touch .env; touch .env; mkdir -p .git/hooks; exit 7' sh '<script>alert(1)</script>' $'\e[31m"&')" 7
ok "the page is well formed and refers to nothing" well_formed
is "only its owner reads it" "$(stat -c %a "$page")" 600
ok "it says how the run ended" has 'exit status 7'
ok "it shows the command, escaped" has "&#39;&lt;script&gt;alert(1)&lt;/script&gt;&#39; &#39;\\x1b[31m&quot;&amp;&#39;"
ok "nothing of the command is markup" has_not '<script|<b>script'
ok "denials are counted by rule" has '<td class="n">2</td><td>filesystem</td><td>filesystem.deny **/.env (built in)</td>'
ok "with what was tried" has "<code>$tmp/work/.env</code>"
ok "each rule has its row" has 'filesystem.protect **/.git/hooks/** (built in)'
ok "it says what the policy allowed" has 'It has no network: it cannot reach any other machine.'
ok "it says what isolation was reached" has '<dt>Namespaces</dt><dd>user mount pid net ipc uts cgroup</dd>'
ok "it says that the log verifies" has '<span class="pill good">verifies</span>'
log=$(sed -nE 's|.*<dt>File</dt><dd><code>(.*)</code></dd>|\1|p' "$page")
last=$(tail -n 1 "$log")
ok "and its last hash" has "<code>${last: -66:64}</code>"
is "which can be checked as it says" "$("$CORDON" audit verify --last "${last: -66:64}" "$log" >/dev/null; echo $?)" 0

is "a run without denials" "$(run --report "$page" -- true)" 0
ok "says so, in place of the old page" has 'Nothing was denied that Cordon could see.'
is "and nothing else was left there" "$(cd "$tmp" && ls -d .cordon* 2>/dev/null)" ""

cat >"$tmp/short.yaml" <<'YAML'
version: 1
extends: [strict]
process: {timeout: 300ms}
YAML
is "a time limit" "$("$CORDON" run --policy "$tmp/short.yaml" --report "$page" -- sleep 20 2>/dev/null; echo $?)" 124
ok "is in the page" has 'process.timeout'
is "a command that is not there" "$(run --report "$page" -- no-such-command)" 127
ok "has a page too" has 'exit status 127'

is "a folder that is not there stops the run before it starts" "$(run --report "$tmp/nowhere/page.html" -- sh -c 'echo ran')" 125
is "so that nothing has run" "$(cat "$tmp/out")" ""
like "and is named" "$(cat "$tmp/err")" "^cordon: --report $tmp/nowhere/page.html: cannot be written there: No such file"
is "so does a folder in the page's place" "$(run --report "$tmp/work" -- echo ran)" 125
is "and one without a name" "$(run --report "$tmp/" -- echo ran)" 125
if [ "$(id -u)" != 0 ]; then
	mkdir -m 500 "$tmp/closed"
	is "and one that cannot be written" "$(run --report "$tmp/closed/page.html" -- echo ran)" 125
else
	skip "and one that cannot be written" "root may write anywhere"
fi
ln -s /etc/passwd "$tmp/link.html"
is "a link in the page's place" "$(run --report "$tmp/link.html" -- true)" 0
ok "is replaced, not followed" test -f "$tmp/link.html" -a ! -L "$tmp/link.html"
mkfifo "$tmp/fifo.html"
is "a FIFO or device in the page's place is left alone" "$(run --report "$tmp/fifo.html" -- echo ran; [ -p "$tmp/fifo.html" ] && echo fifo)" $'125\nfifo'
like "and is named" "$(cat "$tmp/err")" "fifo.html: is no regular file; name another"
is "a page below the work folder" "$(run --report page.html -- true)" 0
ok "is written as well" test -s page.html
is "a dry run writes none" "$(run --dry-run --report "$tmp/dry.html" -- true; test -e "$tmp/dry.html" && echo there)" 0
finish
