#!/bin/bash
# Links that a protected name is reached through. A home whose settings are links into the work folder: where they lead is denied or protected as their own names are. And links on the way to a protected name, which a workload can
# remove to put a folder in their place: what is behind it then is protected too.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

unset XDG_CONFIG_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_DATA_HOME
denied='Permission denied|Read-only|not permitted|cannot (open|create|stat|move|remove)|Directory nonexistent|No such file'

# cannot NAME SCRIPT: what works without Cordon, in a copy of the folder, fails inside; the script's last command tells.
cannot()
{
	rm -rf "$tmp/control" && cp -a . "$tmp/control"
	(cd "$tmp/control" && sh -c "$2") >/dev/null 2>&1
	is "without Cordon: $1" "$?" 0
	inside_fails "inside: $1" "$denied" sh -c "$2"
}

# --- a home of links ---

mkdir -p "$HOME/dotfiles/config/cordon/profiles" "$HOME/dotfiles/local" "$HOME/dotfiles/sh" "$HOME/dotfiles/misc" "$HOME/dotfiles/claude"
for name in config local claude misc; do
	ln -s "dotfiles/$name" "$HOME/.$name"
done
ln -s dotfiles/bashrc "$HOME/.bashrc"
ln -s dotfiles/sh/zshrc "$HOME/.zshrc" # which is not there
echo was >"$HOME/dotfiles/bashrc"
cd "$HOME/dotfiles" || exit 99
policy <<'END'
filesystem: {workdir: read-write}
END
inside_works "a home of links: a run starts in the folder that they lead to" true
cannot "a profile for the next run is made where ~/.config leads" 'mkdir -p config/cordon/profiles && echo x >config/cordon/profiles/default.yaml'
cannot "credentials are written there" 'mkdir -p config/cordon && echo x >config/cordon/credentials.yaml'
cannot "the logs of runs are read where ~/.local leads" 'ls local/state/cordon/runs'
cannot "what starts with the desktop is made there" 'mkdir -p config/autostart && echo x >config/autostart/a.desktop'
cannot "the shell's start-up file is changed by the name that ~/.bashrc leads to" 'echo x >bashrc'
cannot "... or made, where the link leads to nothing" 'echo x >sh/zshrc'
cannot "... or replaced" 'echo x >new; mv -f new bashrc'
cannot "an agent's settings are made where its folder leads" 'echo x >claude/settings.json'
inside_says "the rest of the folder is the workload's" ok sh -c 'echo y >misc/f && echo y >sh/other && mkdir -p config/other && echo y >config/other/f && echo y >claude/notes.md && echo ok'
outside "$CORDON" why --policy "$tmp/policy.yaml" --write --path bashrc
ok "why says so, and by which link" grep -q 'by .*/\.bashrc' "$tmp/out"
outside "$CORDON" run --profile strict -- sh -c 'echo x >free; echo x >bashrc'
outside "$CORDON" apply "$("$CORDON" ps -a -q | head -n 1)"
is "a copy is applied without it" "$(cat bashrc free)" "was
x"
find "$HOME" -maxdepth 1 -type l -delete

mkdir -p "$HOME/.config/cordon" prof
printf 'version: 1\n' >creds.yaml
ln -s ../../dotfiles/creds.yaml "$HOME/.config/cordon/credentials.yaml"
ln -s ../../dotfiles/prof "$HOME/.config/cordon/profiles"
cannot "a file of Cordon's own that is a link is read by where it leads" 'cat creds.yaml'
cannot "... or written" 'echo x >creds.yaml'
cannot "... so are its profiles" 'echo x >prof/default.yaml'
inside_works "... and nothing else" sh -c 'echo y >beside'
mkdir -p "$tmp/far/cordon" "$HOME/.config/systemd/user" "$HOME/.config/fish" units
ln -s ../../../dotfiles/units "$HOME/.config/systemd/user/units"
ln -s ../../dotfiles/fish.conf "$HOME/.config/fish/config.fish"
ln -s ../../../dotfiles/a.service "$HOME/.config/systemd/user/a.service"
cannot "a service of the user's is changed by where its link leads" 'echo x >a.service'
cannot "... and the settings of a shell two folders down" 'echo x >fish.conf'
rm -r "$HOME/.config/cordon"
ln -s "$HOME/dotfiles/far.yaml" "$tmp/far/cordon/credentials.yaml"
ln -s "$tmp/far/cordon" "$HOME/.config/cordon"
printf 'version: 1\n' >far.yaml
cannot "a link in a folder of Cordon's own that is a link itself counts, too" 'echo x >far.yaml'

# --- links on the way ---

cd "$work" || exit 99
policy <<'END'
filesystem: {workdir: read-write, deny: [data/way/s]}
END

# The folder as it is before each attack: a workload may remove links.
scene() # HOOKS_PATH
{
	find . -mindepth 1 -delete
	git init -q . 2>/dev/null
	mkdir -p real/hk t/u t/hk data one/two
	echo key=fake-7731 >real/e
	ln -s real l2
	ln -s t/u x
	ln -s l2/bashrc .bashrc
	ln -s l2/vs .vscode
	ln -s l2/e .env
	ln -s ../one data/way
	ln -s ../../l2/pc.sh .git/hooks/pre-commit
	for i in a b c d e f g h; do ln -s t/u "$i"; done
	git config core.hooksPath "$1"
}

while IFS='|' read -r hooks what how; do
	scene "$hooks"
	cannot "$what" "$how"
done <<'END'
l2/hk|hooks are made where the link to their folder was|rm l2; mkdir -p l2/hk && echo x >l2/hk/pre-commit
l2/hk|... or moved there|mkdir -p q/hk && echo x >q/hk/pre-commit && rm l2 && mv -T q l2
l2/hk|... by an exchange|mkdir -p q/hk && echo x >q/hk/pre-commit && mv q/hk q2 && rm l2 && mkdir l2 && mv -T q2 l2/hk
l2/hk|what a hook leads to is made there|rm l2; mkdir l2; echo x >l2/pc.sh
l2/hk|what a start-up file leads to is made there|rm l2; mkdir l2; echo x >l2/bashrc
l2/hk|an editor's settings are made there|rm l2; mkdir l2; mkdir l2/vs && echo x >l2/vs/tasks.json
l2/hk|what a denied name leads to is made there|rm l2; mkdir l2; echo x >l2/e
l2/hk|what it leads to now is read|rm l2; cat real/e
a/../b/../c/../d/../e/../f/../g/../h/../hk|hooks behind many links and .. are made|for i in a b c d e f g h; do rm $i; mkdir $i; done; mkdir hk && echo x >hk/pre-commit
l2/hk|a path that is denied is made where a link on its way was|rm data/way; mkdir data/way; echo x >data/way/s
x/../hk|hooks behind a link and .. are made where they would be behind a folder|rm x; mkdir x; mkdir hk && echo x >hk/pre-commit
x/../hk|... or where they are|echo x >t/hk/pre-commit
END
scene l2/hk
inside_says "what else is in such a folder is the workload's" ok sh -c 'rm l2; mkdir l2; echo y >l2/other && mkdir l2/sub && echo y >real/other && echo ok'
find . -mindepth 1 -delete

# --- the run's own policy ---

mkdir realpol
policy <<'END'
filesystem: {workdir: read-write}
END
cp "$tmp/policy.yaml" realpol/p.yaml
cp "$tmp/policy.yaml" new.yaml
ln -s realpol pol
ln -s pol/p.yaml last.yaml
for p in pol/p.yaml "$work/pol/p.yaml" last.yaml ./pol/../pol/p.yaml; do
	for how in 'rm pol; mkdir pol; cp new.yaml pol/p.yaml' 'mkdir z; cp new.yaml z/p.yaml; rm pol; mv -T z pol' 'cp new.yaml realpol/p.yaml' 'rm pol; ln -s . pol'; do
		rm -rf pol z && ln -s realpol pol
		outside "$CORDON" run --policy "$p" -- sh -c "$how"
		ok "a run cannot put another in the place of its policy, ${p#"$work"/}: $how" failed_with "$denied"
	done
done
# Names with "..": what such a name leaves, be it a folder, is not made to lead elsewhere.
while IFS='|' read -r p how; do
	find . -mindepth 1 ! -name new.yaml ! -path './realpol*' -delete
	mkdir -p sub/deep z/y && cp new.yaml z/pol.yaml && cp new.yaml pol.yaml && cp new.yaml sub/pol.yaml
	ln -s sub/deep a
	outside "$CORDON" run --policy "$p" -- sh -c "$how"
	ok "nor lead its name elsewhere, $p: $how" failed_with "$denied"
done <<'END'
a/../pol.yaml|rm a; ln -s z/y a
sub/../pol.yaml|mv sub s2; ln -s z/y sub
sub/deep/../../pol.yaml|mv sub/deep s2; ln -s ../z/y sub/deep
sub/deep/../../pol.yaml|mv sub s2; ln -s z sub
END
rm -f a && ln -s realpol pol
echo 'network: {mode: allowlist, allow: [{host: a.test}]}' >>realpol/p.yaml # one that is loaded again when it changes
"$CORDON" run --policy pol/p.yaml -- sleep 30 </dev/null >/dev/null 2>&1 &
other=$!
while ! "$CORDON" ps -q | grep -q .; do sleep 0.05; done
cannot "nor another sandbox in the place of its" 'rm pol; mkdir pol; cp new.yaml pol/p.yaml'
kill "$other"
wait "$other"

mkdir -p r/sub r/z && cp realpol/p.yaml r/pol.yaml && sed 's/a.test/b.test/' realpol/p.yaml >r/z/pol.yaml
(cd r/sub && exec "$CORDON" run -w "$work/r" --policy ../pol.yaml -- sh -c 'mv sub z/sub; touch moved; sleep 30' </dev/null >/dev/null 2>"$tmp/moved.err") &
other=$!
while ! [ -e r/moved ]; do sleep 0.05; done
kill -HUP "$other"
for _ in $(seq 100); do grep -q refused "$tmp/moved.err" && break; sleep 0.05; done
like "a run that moves the folder it was started in does not get another policy by that" "$(cat "$tmp/moved.err")" 'the new policy is refused, the last one stays: .*/r/sub, where the run was started, was moved'
kill "$other"
wait "$other"

# A sandbox that is kept knows the links that were there when it was made: an owner's next run gets another.
mkdir -p "$tmp/owned" && cd "$tmp/owned" || exit 99
owned=("$CORDON" run --owner me -w "$tmp/owned" --)
outside "${owned[@]}" sh -c 'echo x >zz'
ok "what no link leads to is written in a sandbox that is kept" succeeded
ln -s "$tmp/owned/zz" ~/.zprofile
outside "${owned[@]}" sh -c 'echo x >>zz'
ok "... and no more by its owner when one does" failed_with 'Permission denied|Read-only'
"$CORDON" stop --all >/dev/null 2>&1
finish
