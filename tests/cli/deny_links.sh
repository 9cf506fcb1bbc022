#!/bin/bash
# Denied and protected names that are symbolic links: a link cannot be covered, so what it leads to is denied or protected by every name, there or not.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

denied='Permission denied|cross-device|Read-only|busy|not permitted|cannot (open|create|stat|move|remove)|Directory nonexistent'
git init -q . 2>/dev/null
mkdir -p cfg scripts dot/vscode dot/h2 real-git/hooks sub data real/deep
echo KEY=fake-5521 >cfg/prod.env
ln -s cfg/prod.env .env
ln cfg/prod.env third-name
echo key=fake-5522 >real/deep/secret
ln -s ../real data/way
printf '#!/bin/sh\n' >scripts/pc
ln -s ../../scripts/pc .git/hooks/pre-commit
echo was >dot/bashrc
ln -s dot/bashrc .bashrc
ln -s dot/vscode .vscode
ln -s nowhere/modules .gitmodules
echo was >real-git/config
ln -s ../real-git sub/.git
ln -s step1 .zshrc
ln -s step2 step1
echo was >step2
policy <<'END'
filesystem: {workdir: read-write, deny: ["data/way/deep/secret"]}
END
before=$(find . -path ./.git -prune -o -printf '%P %y %s %l\n' | sort)

# --- reading ---

for f in .env cfg/prod.env third-name; do
	inside_fails "read: a denied name that is a link, as $f" "$denied" cat "$f"
done
for f in data/way/deep/secret real/deep/secret; do
	inside_fails "read: a denied path with a link in it, as $f" "$denied" cat "$f"
done
inside_fails "read: the folder of what a link leads to, under another name" "$denied" sh -c 'mv cfg c2 && cat c2/prod.env'
inside_works "read: what stands beside it" cat dot/bashrc

# --- writing ---

for f in .git/hooks/pre-commit scripts/pc .bashrc dot/bashrc .vscode/tasks.json dot/vscode/tasks.json sub/.git/config real-git/config sub/.git/hooks/x real-git/hooks/x .zshrc step2; do
	inside_fails "write: $f" "$denied" sh -c 'echo x >>"$0"' "$f"
done
inside_fails "write: what a link leads to that is not there" "$denied" sh -c 'mkdir -p nowhere; echo x >nowhere/modules'
rmdir nowhere 2>/dev/null
inside_fails "write: a step in between is replaced" "$denied" sh -c 'echo mine >mine; mv -f mine step1'
inside_fails "write: the folder of what a link leads to is replaced" "$denied" sh -c 'mv scripts s2; mkdir scripts 2>/dev/null; echo x >scripts/pc'
inside_works "write: what no pattern means, where a link leads" sh -c 'echo x >real-git/fine && rm real-git/fine'
rm -f mine
is "all of it is as it was" "$(find . -path ./.git -prune -o -printf '%P %y %s %l\n' | sort)" "$before"

# --- copies ---

"$CORDON" run --profile strict -- sh -c 'cp scripts/pc p2; echo x >>p2; mv -f p2 scripts/pc; rm -f scripts/pc; echo x >scripts/pc; cat .env cfg/prod.env; echo fine >fine' >"$tmp/out" 2>&1
is "copy: what a link leads to is not shown" "$(grep -c fake-55 "$tmp/out")" "0"
id=$("$CORDON" ps --all --json | grep -o '"id": *"[0-9a-f]*"' | head -n 1 | grep -o '[0-9a-f]\{6,\}')
"$CORDON" apply "$id" >"$tmp/out" 2>&1
is "copy: apply brings nothing back to where a protected link leads" "$(cat scripts/pc)" '#!/bin/sh'

# --- patterns that go through links of the host's ---

ln -s "$work" "$tmp/shortcut"
policy <<END
filesystem: {workdir: read-write, deny: ["$tmp/shortcut/real/deep"]}
END
inside_fails "deny: a pattern whose folder is a link" "$denied" cat real/deep/secret

rm "$tmp/shortcut"
mkdir -p "$tmp/far/in" "$tmp/other/sub" real/new
ln -s "$work" "$tmp/far/alias"
ln -s "$tmp" "$tmp/far/up"
ln -s alias "$tmp/far/in/../again"
ln -s "$work/real/deep/secret" "$tmp/far/named"
for pattern in 'ali*/real/deep/secret' '*/real/deep' '**/real/d*/secret' 'a[g]*/re*/deep' 'name?' '**/deep' 'u*/work/real/deep' 'up/*/real/deep' 'u?/w*/*/deep/secret'; do
	policy <<-END
	filesystem: {workdir: read-write, deny: ["$tmp/far/$pattern"]}
	END
	inside_fails "deny: a pattern with a wildcard that goes through a link, far/$pattern" "$denied" cat real/deep/secret
done
policy <<END
filesystem: {workdir: read-write, deny: ["$tmp/far/ali*/real/new/key", "$tmp/far/**/real/new/other"]}
END
for f in key other; do
	inside_fails "... to what is not there, $f" "$denied" mkdir "real/new/$f"
done
ln -s "$tmp/other" leads
ln -s ../other "$tmp/far/more"
echo fake-5524 >"$tmp/other/sub/key2"
for pattern in '**/key2' '**/s*/key2' 'l*/**/key2' '*/sub/key2'; do
	policy <<-END
	filesystem: {workdir: read-write, read: ["$tmp/other"], deny: ["./$pattern"]}
	END
	inside_fails "deny: $pattern, through a link to another folder that is shown" "$denied" cat leads/sub/key2
done
mkdir inner
for i in {1..1500}; do echo "inner/l$i"; done | xargs -n 1 ln -s ..
policy <<END
filesystem: {workdir: read-write, deny: ["./**/key9", "/usr/lib/*/nonesuch", "/usr/lib/*"]}
END
inside true
like "1500 links that stay where the pattern holds anyway, and links of the base system, hinder nobody" "$status:$told" '^(0:|12[67]:)'
rm -rf inner leads real/new "$tmp/far" "$tmp/other"
ln -s "$tmp" "$tmp/top"
mkdir -p real/new alone
echo fake-5526 >alone/key3
for pattern in 'top/**/key3' 't[o]p/**/alone' 'top/*/**/key3' 'top/work/al*/**'; do
	policy <<-END
	filesystem: {workdir: read-write, deny: ["$tmp/$pattern"]}
	END
	inside_fails "deny: $pattern, through a link to a folder that holds the work folder" "$denied" cat alone/key3
done
policy <<END
filesystem: {workdir: read-write, deny: ["$tmp/top/**/new/key", "$tmp/t[o]p/*/**/new/other", "$tmp/top/**/alone/more"]}
END
for f in real/new/key real/new/other alone/more; do
	inside_fails "... to what is not there, $f" "$denied" mkdir "$f"
done
for pattern in top 't[o]p' 'top/**'; do
	policy <<-END
	filesystem: {workdir: read-write, deny: ["$tmp/$pattern"]}
	END
	inside true
	ok "deny: $pattern, all of it: the run is refused" refused 125 'work folder .*: denied by filesystem.deny'
done
ln -s / "$tmp/slash"
mkdir -p real/work && echo fake-5527 | tee real/work/key3 >real/key3
policy <<END
filesystem: {workdir: read-write, deny: ["$tmp/slash/**/alone/key3", "$tmp/sl[a]sh/**/work/key3"]}
END
for f in alone/key3 real/work/key3; do
	inside_fails "deny: behind a link to the root, $f" "$denied" cat "$f"
done
inside_works "... and nothing else" cat real/key3
mkdir -p "$tmp/two/work/sub/work" && echo fake-5528 >"$tmp/two/work/sub/work/key3"
policy <<END
filesystem: {workdir: none, write: ["$tmp/two/work"], deny: ["$tmp/slash/**/work/key3"]}
END
inside_fails "... in a folder that has one of the pattern's names" "$denied" cat "$tmp/two/work/sub/work/key3"
rm -rf "$tmp/slash" "$tmp/two" real/work real/key3
mkdir "$tmp/stray" && ln -s / "$tmp/stray/z"
policy <<END
filesystem: {workdir: read-write, deny: ["$tmp/stray/**/secret"]}
END
inside_works "a link to the root that a ** strays to hides nothing" cat real/deep/secret
mkdir "$tmp/vault" && echo fake-5525 >"$tmp/vault/key" && ln "$tmp/vault/key" hard && ln -s vault "$tmp/to-vault"
for pattern in to-vault 'to-v*' 'to-vault/**' 'to-*/**' 'to-vault/k*'; do
	policy <<-END
	filesystem: {workdir: read-write, deny: ["$tmp/$pattern"]}
	END
	inside_fails "deny: $pattern, through a link, and another name of a file there" "$denied" cat hard
done
rm -rf hard alone real/new "$tmp/stray" "$tmp/vault" "$tmp/to-vault" "$tmp/top"

# --- places that git is told to look at ---

policy <<'END'
filesystem: {workdir: read-write}
END
mkdir .githooks more
printf '#!/bin/sh\n' >.githooks/pre-commit
echo '[user]' >more/settings
git config core.hooksPath .githooks
git config include.path ../more/settings
printf '[Core]\n\thooksPath = "own hooks" ; a comment\n' >"$HOME/.gitconfig"
for f in .githooks/pre-commit .githooks/post-commit more/settings "own hooks/x"; do
	inside_fails "write: $f, where git's configuration leads" "$denied" sh -c 'mkdir -p "own hooks"; echo x >>"$0"' "$f"
done
inside_works "write: what stands beside it" sh -c 'echo x >more/other'
rm -rf "$HOME/.gitconfig" more "own hooks"

# --- one folder under two names ---

mkdir -p "$tmp/home/lk" twice/deep
ln -s "$work" "$tmp/home/lk/alias"
ln -s "$work/twice" "$tmp/home/lk/part"
echo key=fake-5523 >twice/held
ln -s held twice/.env
ln -s deep/rc twice/.bashrc
ln -s "$work/twice/aimed" "$tmp/home/lk/aim"
for mode in read-write copy; do
	policy <<END
filesystem: {workdir: $mode, write: [~/lk/alias, ~/lk/part], deny: ["$work/twice/plain", "~/lk/part/other", "$work/**/below", "$work/twice/w*", "~/lk/aim"]}
END
	for at in twice ~/lk/alias/twice ~/lk/part; do
		name="$mode, as ${at#"$tmp/"}"
		inside_fails "two names: what a denied link leads to ($name)" "$denied" cat "$at/held"
		inside_fails "two names: what a protected link leads to, not there ($name)" "$denied" sh -c 'echo x >"$0/deep/rc"' "$at"
		for f in plain other deep/below wild aimed; do
			inside_fails "two names: a denied path that is not there, $f ($name)" "$denied" mkdir "$at/$f"
		done
		inside_fails "two names: where git's configuration leads ($name)" "$denied" sh -c 'echo x >>"$0/../.githooks/pre-commit" || { [ ! -e "$0/../.githooks" ] && echo "cannot open it" >&2; false; }' "$at"
	done
done
policy <<END
filesystem: {workdir: none, write: [~/lk/alias, ~/lk/part]}
END
inside_fails "two names: none is the folder's own" "$denied" cat ~/lk/part/held
inside_fails "two names: hooks, by a name without .git" "$denied" sh -c 'echo x >"$0"' ~/lk/alias/.githooks/x
ln -s "$work/.git/hooks" "$tmp/home/lk/hooks"
policy <<END
filesystem: {workdir: none, write: [~/lk/hooks]}
END
inside_fails "another name: the folder of hooks itself, one made" "$denied" sh -c 'echo x >"$0"' ~/lk/hooks/post-merge
rm -rf twice "$tmp/home/lk" .git/hooks/post-merge
policy <<'END'
filesystem: {workdir: read-write}
END

# --- what is to be read only, by a name that goes through links ---

mkdir -p kept/deep kept/out
echo was >kept/deep/f
ln -s "$work" "$tmp/home/lk"
ln -s kept "$tmp/home/lk/kl"
for mode in read-write copy; do
	# shellcheck disable=SC2088 # for the policy
	for entry in '~/lk/kept/deep' '~/l*/kept/deep' '~/lk/kept/d*' '~/lk/kl/deep' "$tmp/home/*/kept/deep/f" kl/deep; do
		policy <<-END
		filesystem: {workdir: $mode, read: ["$entry"]}
		END
		inside_fails "read: $entry is read-only in the work folder too ($mode)" "$denied" sh -c 'cat kept/deep/f >&2; echo x >>kept/deep/f'
	done
done
policy <<END
filesystem: {workdir: none, write: ["$tmp/home/lk/kept"], read: ["$work/kept/deep"]}
END
inside_fails "read: by its own name, what may be written by another" "$denied" sh -c 'echo x >>"$0"' "$tmp/home/lk/kept/deep/f"
inside_fails "... nor is its folder moved away" "$denied" mv "$tmp/home/lk/kept/deep" "$tmp/home/lk/kept/gone"
policy <<END
filesystem: {workdir: read-write, read: ["~/lk", "~/lk/kept/none"]}
END
inside_works "read: of all of the work folder by another name leaves it as it is" sh -c 'echo x >kept/fine && rm kept/fine'
inside_fails "read: what is not there cannot be made" "$denied" mkdir kept/none
policy <<END
filesystem: {workdir: none, read: ["~/lk"], write: ["$work/kept/out", "~/lk/kept/deep"]}
END
inside_works "read: a writable folder that is named below it can be written" sh -c 'echo x >"$0/kept/out/f" && echo was >"$1/kept/deep/f"' "$work" "$tmp/home/lk"
is "read: nothing was written" "$(cat kept/deep/f)" was
rm -rf kept "$work/kl" "$tmp/home/lk"
policy <<'END'
filesystem: {workdir: read-write}
END

# --- ways that are written in other words, or not there ---

mkdir real-sub links
for way in .hooks2/ ./.hooks2 .//.hooks2/. sub2/../.hooks2 sub2/x/../../.hooks2 real-sub/../.hooks2; do
	git config core.hooksPath "$way"
	inside_fails "write: hooks at $way" "$denied" sh -c 'mkdir -p sub2/x; mkdir .hooks2 && echo x >.hooks2/pre-commit'
	rm -rf .hooks2 sub2
done
git config core.hooksPath sub2/../.hooks2
inside_fails "write: a link where a way turns back, not there" "$denied" sh -c 'mkdir -p o/sub o/.hooks2; ln -s o/sub sub2'
git config core.hooksPath real-sub/../.hooks2
inside_fails "write: a link where a way turns back" "$denied" sh -c 'mkdir -p o/sub o/.hooks2; rmdir real-sub; ln -s o/sub real-sub'
rm -rf o
mkdir -p real-sub
git config core.hooksPath .githooks
ln -s links/way/rc .kshrc
ln -s ../real-sub links/way
echo was >real-sub/rc
inside_fails "write: what a link leads to through another one" "$denied" sh -c 'echo x >>real-sub/rc'
inside_fails "write: a link on the way is replaced" "$denied" sh -c 'mkdir mine; echo x >mine/rc; rm links/way; ln -s ../mine links/way'
ln -sfn ../real-sub links/way
inside true
is "all of it is as it was, again" "$status:$(cat real-sub/rc)$(cat .kshrc)" "0:waswas"
rm -rf real-sub links .kshrc mine

# --- what is no folder yet, and what is all of it ---

echo was >plain
ln -s plain/rc .exrc
inside_fails "write: a link through what is a file by now" "$denied" sh -c 'rm plain && mkdir plain && echo x >plain/rc'
rm -rf .exrc plain
ln -s . .idea
inside true
ok "a protected link to the whole work folder is refused, with what to do" failed_with '\.idea is a link to all of .*; remove the link'
rm .idea

# --- very many ---

mkdir many
ln -s -t many ../t{1..1500}
policy <<'END'
filesystem: {workdir: read-write, deny: ["many/*"]}
END
inside_fails "1500 denied links: where the last leads nothing is made" "$denied" mkdir t1500
inside_works "... and beside it something is" sh -c 'mkdir t1501 && rmdir t1501'
ln -s -t many ../t{1501..5200}
inside true
ok "5200 are refused, with what to do" failed_with 'more than 5000 names are denied or protected because links lead there .*; remove such links'
rm -r many
mkdir many
ln -s -t many ../t'['{1..500}
inside true
ok "500 to names that have wildcards too" failed_with 'more than 400 names'
rm -r many
policy <<END
filesystem: {workdir: read-write, deny: [$(printf '"p*%d",' {1..450})"many/*"]}
END
mkdir many
ln -s '../t[1' many/l
inside_works "... whatever the policy has itself" true
rm -r many

# a home by a link, and a folder of packages that are links to each other
mkdir -p "$work/packages/.store" && mkdir "$work/packages/.store"/p{1..1100}
(cd packages && for p in .store/*; do echo "$p"; done | xargs ln -s -t .)
echo key=fake-5523 | tee packages/key >packages/.store/p1100/key
ln -s "$work" "$tmp/elsewhere"
policy <<END
filesystem: {workdir: read-write, deny: ["$tmp/elsewhere/**/key"]}
END
inside_fails "a pattern through a link, and 1100 links behind it: what it denies" "$denied" cat packages/key
inside_fails "... also where one of them leads" "$denied" cat packages/p1100/key
inside_works "... and the rest is there" ls packages/p1 packages/p1100
ln -sfn "${work%/*}" "$tmp/elsewhere"
policy <<END
filesystem: {workdir: read-write, deny: ["$tmp/elsewhere/work/**/key"]}
END
inside_fails "... and where it names a folder behind the link" "$denied" cat packages/key
inside_fails "... also where one of them leads" "$denied" cat packages/p1100/key
rm -r packages "$tmp/elsewhere"

# --- no end ---

ln -s loop-b loop-a && ln -s loop-a loop-b
policy <<'END'
filesystem: {workdir: read-write, deny: [loop-a]}
END
inside_works "a link that leads to itself hinders nobody" true
finish
