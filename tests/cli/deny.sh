#!/bin/bash
# filesystem.deny and the mandatory denials: names that exist and names that do not yet, at any depth, by every way to make a name; and no stub is left on the host.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

denied='Permission denied|cross-device|Read-only|busy|not permitted|cannot (open|create|stat)'
mkdir -p deep/a/b/c secrets/sub out
for d in . deep deep/a/b/c; do
	echo "SECRET=$d" >"$d/.env"
	echo key >"$d/server.key"
done
echo hidden >secrets/sub/file
echo plain >plain
ln .env hardlink
ln -s .env softlink
ln -s secrets/sub dirlink
policy <<'END'
filesystem: {workdir: read-write, deny: ["**/*.key", "secrets", "**/locked/**", "out/only-here"]}
END
tree()
{
	find . -printf '%P %y %s\n' | sort
}
before=$(tree)

# --- what exists ---

for f in .env deep/.env deep/a/b/c/.env server.key deep/a/b/c/server.key secrets/sub/file; do
	inside_fails "read: $f" "$denied" cat "$f"
done
inside_fails "read: a hard link to it" "$denied" cat hardlink
inside_fails "read: a symbolic link to it" "$denied" cat softlink
inside_fails "read: a folder behind a symbolic link" "$denied" cat dirlink/file
inside_fails "read: a link made inside" "$denied" sh -c 'ln -s deep/.env mine; cat mine'
rm -f mine
inside_fails "read: by /proc/self/cwd" "$denied" cat /proc/self/cwd/.env
inside_fails "read: by /proc/self/root" "$denied" cat "/proc/self/root$work/.env"
inside_fails "read: a folder's list" "$denied" ls secrets
inside_fails "write" "$denied" sh -c 'echo x >.env'
inside_fails "write: append" "$denied" sh -c 'echo x >>deep/server.key'
inside_fails "truncate" "$denied" truncate -s 0 .env
inside_fails "remove" "$denied" rm -f .env
inside_fails "remove a folder that holds one" "$denied" rm -rf deep
inside_fails "chmod" "$denied" chmod 777 .env
inside_fails "rename away" "$denied" mv .env env
inside_fails "rename the folder away" "$denied" mv secrets public
inside_fails "rename a folder above it, then read" "$denied" sh -c 'mv deep/a deep/z; cat deep/z/b/c/.env'
[ ! -e deep/z ] || mv deep/z deep/a
inside_fails "rename over it" "$denied" sh -c 'echo x >x; mv -f x .env'
inside_fails "hard link to it" "$denied" ln .env linked
inside_fails "exchange it with another" "$denied" python3 -c 'import ctypes,os,sys
c=ctypes.CDLL(None,use_errno=True)
if c.syscall(316,-100,b"plain",-100,b".env",2): sys.exit(os.strerror(ctypes.get_errno()))'
rm -f x
is "all of it is as it was" "$(tree)" "$before"

# --- other names of what lies in a denied folder ---

mkdir -p shown "$tmp/elsewhere/keys" "$tmp/library" repo2/.git/hooks
echo below >secrets/sub/linked
echo twice >secrets/sub/twice
echo outside >"$tmp/elsewhere/keys/key"
echo theirs >"$tmp/library/theirs"
echo '#!/bin/sh' >repo2/.git/hooks/pre-commit
ln secrets/sub/linked shown/below
ln secrets/sub/twice shown/once
ln secrets/sub/twice "$tmp/library/again"
ln "$tmp/elsewhere/keys/key" shown/key
ln secrets/sub/linked "$tmp/single"
ln repo2/.git/hooks/pre-commit shown/hook
ln plain shown/plain
policy <<END
filesystem: {workdir: read-write, read: ["$tmp/library", "$tmp/single"], deny: ["secrets/**", "$tmp/elsewhere/*"]}
END
inside_fails "other names: of a file below a denied folder" "$denied" cat shown/below
inside_fails "other names: in a folder shown beside the work folder" "$denied" cat "$tmp/library/again"
inside_fails "other names: of a file in a denied folder that is not shown" "$denied" cat shown/key
inside_fails "other names: a file that is shown alone" "$denied" cat "$tmp/single"
inside_fails "other names: of a hook cannot be written" "$denied" sh -c 'echo evil >shown/hook'
inside_says "other names: of a hook can be read" '#!/bin/sh' cat shown/hook
inside_says "other names: of what is not denied are free" "plain
theirs" cat shown/plain "$tmp/library/theirs"
policy <<'END'
filesystem: {workdir: copy, deny: ["secrets"]}
END
inside_fails "other names: with a copy of the work folder" "$denied" cat shown/below
mkdir shut shut/in && echo x >shut/in/f && ln shut/in/f shown/shut && chmod 0 shut/in
policy <<'END'
filesystem: {workdir: read-write, deny: ["shut"]}
END
if is_root; then
	inside_fails "other names: root finds those of a folder that its owner shut" "$denied" cat shown/shut
else
	inside true
	ok "other names: a denied folder of the user's own that cannot be read is refused" refused 125 'shut.*cannot be read.*hard links.*filesystem.deny'
fi
chmod 700 shut/in
rm -rf shown shut repo2 secrets/sub/linked secrets/sub/twice
policy <<'END'
filesystem: {workdir: read-write, deny: ["**/*.key", "secrets", "**/locked/**", "out/only-here"]}
END

# --- what does not exist yet ---

inside_fails "make a file" "$denied" sh -c 'echo x >new.key'
inside_fails "make a file at depth" "$denied" sh -c 'mkdir -p n/e/w; echo x >n/e/w/new.key'
inside_fails "make a folder of that name" "$denied" mkdir n/dir.key
inside_fails "make a FIFO of that name" "$denied" mkfifo n/f.key
inside_fails "make a symbolic link of that name" "$denied" ln -s plain n/l.key
inside_fails "make a hard link of that name" "$denied" ln plain n/h.key
inside_fails "bind a socket of that name" "$denied" python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("n/s.key")'
inside_fails "rename a file to that name" "$denied" sh -c 'echo x >n/x; mv n/x n/x.key'
inside_fails "rename a folder to that name" "$denied" sh -c 'mkdir -p n/d; mv n/d n/d.key'
inside_fails "give a nameless file that name" "$denied" python3 -c 'import os
fd=os.open(".",os.O_TMPFILE|os.O_RDWR,0o644); os.link("/proc/self/fd/%d"%fd,"n/t.key",src_dir_fd=fd,follow_symlinks=True)'
inside_fails "make it through a dangling link" "$denied" sh -c 'ln -sfn n/through.key n/way; echo x >n/way'
inside_fails "make it through a link to a folder" "$denied" sh -c 'ln -sfn n/e n/to; echo x >n/to/y.key'
inside_fails "make it below a folder that is denied whole" "$denied" sh -c 'mkdir -p n/locked && echo x >n/locked/x'
inside_fails "make it in a folder that is renamed into place" "$denied" sh -c 'mkdir -p n/tmp; echo x >n/tmp/x; mv n/tmp n/locked/tmp || mv n/tmp n/locked'
inside_fails "a rule of the policy holds in /tmp too" "$denied" sh -c 'echo x >/tmp/z.key'
inside_fails "a name in one place" "$denied" sh -c 'echo x >out/only-here'
inside_works "the same name elsewhere is free" sh -c 'echo x >n/only-here'
inside_fails "make it by openat and a folder's descriptor" "$denied" python3 -c 'import os
d=os.open("n",os.O_RDONLY); os.open("d.key",os.O_CREAT|os.O_WRONLY,dir_fd=d)'
inside_fails "make it by a path with dots and slashes" "$denied" sh -c 'echo x >n//../n/./dots.key'
inside_fails "make it by a long way round" "$denied" sh -c 'cd n/e; echo x >../../deep/../round.key'
is "no denied name was made" "$(find . -name '*.key' ! -name server.key; find . -path '*/locked/*'; ls out)" ""
is "and no stub is left on the host" "$(find . -name '.env' -size 0; find . -name only-here ! -path './n/*'; find . -name locked -type f)" ""
rm -rf n

# --- the mandatory ones, without a word in the policy ---

policy <<'END'
filesystem: {workdir: read-write}
END
mkdir -p repo/.git/hooks
echo '[core]' >repo/.git/config
for f in .config/gdb/gdbinit .erlang .psysh.php .config/psysh/config.php sub/jupyter_server_config.py .jupyter/jupyter_notebook_config.json .ipython/profile_default/startup/x.py .ipython/profile_default/ipython_config.py .tmux/plugins/tpm/tpm .cargo/env .nvm/nvm.sh .config/i3/config .config/awesome/rc.lua .local/share/applications/x.desktop .local/share/dbus-1/services/x.service .config/kitty/kitty.conf .wezterm.lua sub/.lazy.lua .local/share/nvim/site/plugin/x.lua .config/vim/vimrc .config/Code/User/tasks.json .theia/tasks.json sub/.externalToolBuilders/x.launch sub/x.sublime-project .copilot/mcp-config.json .config/goose/config.yaml .git/hooks/pre-commit repo/.git/hooks/post-merge repo/.git/config sub/.git/config .bashrc sub/.bash_profile .profile sub/.zshrc .env sub/.env .vscode/tasks.json .claude/settings.json .mcp.json .cursor/mcp.json .gemini/settings.json .codex/config.toml .envrc .vimrc .idea/x.xml .bash_aliases sub/.bashrc.d/x.sh .xsessionrc .config/environment.d/x.conf .vim/vimrc .vim/plugin/x.vim .vim/pack/a/start/b/plugin/x.vim .nvim.lua .gdbearlyinit sub/.Rprofile .config/tmux/tmux.conf .claude/plugins/x/hooks/hooks.json .claude.json .git/config.lock .git/modules/m/config.lock .pdbrc .devcontainer.json .dir-locals-2.el .Renviron .pre-commit-config.yaml .codex/hooks.json .opencode.json sub/x.code-workspace .local/share/systemd/user/x.service .nanorc .kakrc .config/kak/kakrc .config/micro/init.lua .spacemacs .doom.d/init.el _vimrc .local.vimrc .shrc .logout .elvish/rc.elv .config/elvish/rc.elv .config/ion/initrc .local/share/bash-completion/completions/git \
	mise.toml sub/.mise.toml mise.local.toml .mise.dev.toml .mise/config.toml mise/config.toml .config/mise/config.toml .config/mise/conf.d/x.toml .config/mise.toml .rvmrc .env.leave .autoenv .p10k.zsh .zpreztorc .oh-my-zsh/custom/x.zsh .fzf.bash .config/starship.toml .claude/session-env/4711/sessionstart-hook-0.sh \
	.git/lazygit.yml .git/modules/m/lazygit.yml sub/.lazygit.yml .config/lazygit/config.yml .tigrc .config/tig/config \
	bin/activate-hermit sub/bin/hermit.hcl .vibe/config.toml .grok/settings.json .letta/settings.json .letta/settings.local.json \
	.codebuddy/settings.json .codebuddy/agents/x.md .iflow/settings.json .iflow/commands/x.toml .qoder/settings.json .qoder/commands/x.md .tabnine/mcp_servers.json .claude/launch.json .claude/workflows/x.js \
	.claude/routines/x.md .claude/scheduled_tasks.json .codex/agents/x.toml .gemini/sandbox.bashrc .gemini/sandbox.Dockerfile .config/opencode/plugin/x.js sub/.aider.model.settings.yml \
	.aider.tags.cache.v4/cache.db sub/.aider.tags.cache.v3/1/2.val .config/ghostty/config .config/alacritty/alacritty.toml .alacritty.toml .config/foot/foot.ini .config/zellij/config.kdl \
	.config/niri/config.kdl .config/river/init .config/labwc/autostart .config/waybar/config .config/polybar/config.ini .config/dunst/dunstrc .xmonad/xmonad.hs .config/xmonad/xmonad.hs \
	.config/ranger/rifle.conf .config/yazi/yazi.toml .config/lf/lfrc .lessfilter .ptpython/config.py .config/ptpython/config.py .guile .julia/config/startup.jl .sbclrc \
	.config/ipython/profile_default/startup/x.py .psqlrc .sqliterc .mongoshrc.js .mailcap .procmailrc .muttrc; do
	cp -a repo/.git/config "$tmp/kept-config"
	inside sh -c 'mkdir -p "$(dirname "$1")" && echo evil >"$1"' - "$f"
	ok "mandatory: $f cannot be written" failed_with "$denied"
	ok "mandatory: ... and $f is not there with it" sh -c '! grep -qs evil "$1"' - "$work/$f"
done
inside_says "mandatory: protected files can be read" "[core]" cat repo/.git/config
echo '{"folders": []}' >repo/app.code-workspace
inside_says "mandatory: ... a workspace of an editor, too" '{"folders": []}' cat repo/app.code-workspace
inside_works "mandatory: other names beside them are free" sh -c 'echo x >repo/.git/index; echo x >environment; mkdir -p .github; echo x >.gitignore; mkdir -p .local/share/app; echo x >.local/share/app/f; echo x >workspace; mkdir -p .claude/session-env/4712; echo 3.12 >.tool-versions; echo x >promise.toml; mkdir mise; echo x >mise/x.toml; echo x >bin; rm bin; ln -s sub bin; rm bin; mkdir -p bin .julia .iflow; echo x >bin/tool; echo x >bin/hermit; echo x >.julia/x; echo x >.iflow/notes.md; echo x >.aider.chat.history.md; echo x >lazygit.yml'
is "mandatory: nothing is left but what was made" "$(cd "$work" && ls -d .bashrc .profile .mcp.json .envrc .vimrc 2>/dev/null)" ""
policy <<'END'
filesystem: {workdir: copy, deny: ["**/*.key"]}
END
inside_fails "copy: what exists is hidden" "$denied" cat server.key
inside_fails "copy: it cannot be made either" "$denied" sh -c 'echo x >fresh.key'
inside_fails "copy: nor through a removed folder" "$denied" sh -c 'rm -rf repo; mkdir repo; echo x >repo/a.key'

# --- the audit ---

policy <<'END'
filesystem: {workdir: read-write, deny: ["**/*.key"]}
END
inside sh -c 'echo x >audited.key'
like "the denial is in the log with its rule and line" "$(events "$(runs | head -n 1)" denial)" '"rule":"filesystem.deny \*\*/\*.key \([^"]*:2\)".*audited.key'
# --- in the base system ---

policy <<'END'
filesystem: {workdir: read-write, deny: ["/usr/bin/id", "/bin/hostname", "/usr/share/zoneinfo/Etc", "/usr/bin/who*"]}
END
inside_fails "deny: a program of the base system" 'Permission denied' cat /usr/bin/id
inside_fails "deny: under the name of a link to its folder" 'Permission denied' cat /usr/bin/hostname
inside_fails "deny: a folder of the base system" 'Permission denied' ls /usr/share/zoneinfo/Etc
inside_fails "deny: by a pattern" 'Permission denied' cat /usr/bin/whoami
inside_works "deny: the rest of it is there" cat /usr/bin/env
policy <<'END'
filesystem: {workdir: read-write, deny: ["**/whoami"]}
END
inside_fails "deny: a pattern that floats holds in the base system too" 'Permission denied' cat /usr/bin/whoami

# in_base_with_env CMD...: where a folder of the base system has a .env
in_base_with_env()
{
	unshare -m sh -c 'mount -t tmpfs none /usr/local/src && mkdir /usr/local/src/app && echo KEY=fake >/usr/local/src/app/.env && chmod -R a+rX /usr/local/src && exec "$@"' sh "$@"
}
if is_root && [ -d /usr/local/src ] && in_base_with_env true 2>/dev/null; then
	policy <<'END'
filesystem: {workdir: read-write, deny: ["**/.env"]}
END
	outside in_base_with_env "$CORDON" run --policy "$tmp/policy.yaml" -- cat /usr/local/src/app/.env
	ok "deny: a policy's own **/.env holds in the base system too" failed_with 'Permission denied'
	policy <<'END'
filesystem: {workdir: read-write}
END
	outside in_base_with_env "$CORDON" run --policy "$tmp/policy.yaml" -- cat /usr/local/src/app/.env
	is "deny: ... and the built-in one is about the folders of users" "$status:$said" "0:KEY=fake"
else
	skip "deny: a policy's own **/.env holds in the base system too" "only root can put one there"
fi

# One denied folder in another, by two patterns that float, whichever comes first.
outer=$(find /usr/share /usr/lib -mindepth 2 -maxdepth 2 -type d -name '[a-zA-Z]*' ! -name '*[^a-zA-Z0-9-]*' -printf '%h %f\n' 2>/dev/null | awk '{n = split($1, w, "/"); if (n > 3 && w[n] !~ /[^a-zA-Z0-9-]/ && $2 != w[n]) {print $1 "/" $2; exit}}')
if [ -n "$outer" ]; then
	inner=${outer##*/} outer=${outer%/*}
	for deny in "\"**/${outer##*/}\", \"**/$inner\"" "\"**/$inner\", \"**/${outer##*/}\""; do
		policy <<END
filesystem: {workdir: read-write, deny: [$deny]}
END
		for try in first second third; do
			inside_works "deny: [$deny] in the base system, the $try run" true
		done
		inside_fails "deny: [$deny] hide the outer folder" 'Permission denied' ls "$outer"
		inside_fails "deny: [$deny] hide the inner folder" 'Permission denied' ls "$outer/$inner"
	done
	is "deny: a folder below a hidden one needs no mask of its own" "$("$CORDON" run --policy "$tmp/policy.yaml" --dry-run --json -- true | grep -c "\"hide\",\"target\":\"$outer/$inner\"")" 0
else
	skip "deny: two patterns that find one folder in another" "there is none to be found in /usr"
fi
mkdir -p "$tmp/shelf/box/case" && echo x >"$tmp/shelf/box/case/f" && echo x >"$tmp/shelf/free"
ln -s box "$tmp/shelf/way"
policy <<END
filesystem: {workdir: read-write, read: ["$tmp/shelf", "$tmp/shelf/box/case"], deny: ["$tmp/shelf/box"]}
END
inside_says "deny: a folder that is shown below a denied one does not keep a run from starting" x cat "$tmp/shelf/free"
inside_fails "deny: ... and is hidden with it" "$denied" cat "$tmp/shelf/box/case/f"
policy <<END
filesystem: {workdir: read-write, read: ["$tmp/shelf", "$tmp/shelf/way/case"], deny: ["$tmp/shelf/way"]}
END
# where the kernel has no openat2, nothing can be shown behind a link
inside_fails "deny: ... also below a link that is denied" "$denied|link loop" cat "$tmp/shelf/way/case/f"
inside_fails "deny: ... under the name that it leads to" "$denied|link loop" cat "$tmp/shelf/box/case/f"

# --- patterns that are no paths ---

is "a shipped profile is no file of the work folder" "$("$CORDON" run --profile strict --dry-run --json -- true | grep -c 'profile:strict (the run')" "0"

# A backslash stands before a wildcard, or another one: whoever writes one for itself means a name that would not be
# hidden.
rm -rf ./*
for key in filesystem.deny filesystem.read filesystem.write process.allow_exec process.deny_exec; do
	policy <<-END
	${key%.*}: {${key#*.}: ['back\slash']}
	END
	inside true
	ok "$key: a backslash before no wildcard is refused, with its place" \
		refused 125 'policy.yaml:2:[0-9]+: .*has a backslash that stands before no wildcard'
done
policy <<'END'
filesystem: {workdir: read-write}
END
# shellcheck disable=SC1003
for name in 'back\slash' 'st*r' 'ques?ion' 'br[cket'; do
	rm -rf ./*
	echo key=fake-2204 >"$name"
	echo other >stir
	inside_says "without a rule $name is read" "key=fake-2204" cat "$name"
	policy <<-END
	filesystem: {workdir: read-write, deny: ['$(sed 's/[][*?\\]/\\&/g' <<<"$name")']}
	tests: [{deny: {read: '$name'}}, {allow: {read: stir}}]
	END
	inside_fails "deny: what a backslash stands before is itself: $name" 'Permission denied' cat "$name"
	inside_fails "... where it is to be made, too" 'Permission denied|Read-only|not permitted' \
		sh -c 'mkdir d; echo x >d/y; mv -T d/y "$1"' sh "$name"
	inside_says "... and no wildcard" other cat stir
	outside "$CORDON" policy test "$tmp/policy.yaml"
	ok "... a policy's tests name it as it is" succeeded
	policy <<-END
	filesystem: {workdir: read-write}
	END
done
finish
