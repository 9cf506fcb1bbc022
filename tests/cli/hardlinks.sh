#!/bin/bash
# Hard links of files that are denied or protected by a name outside of what is shown: Cordon's own settings, the
# run's policy, a home's start-up files. Whoever writes to any name of a file writes to all of them.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

unset XDG_CONFIG_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_DATA_HOME
denied='Permission denied|Read-only|not permitted|cannot (open|create|stat|move|remove|touch)|Directory nonexistent'
denied+='|No such file|Device or resource busy|cross-device'

# kept NAME FILE SCRIPT: what changes a file of the home's by its name in the work folder without Cordon does not
# inside. The file has the words that it had.
kept()
{
	cp -p "$2" "$tmp/was"
	sh -c "$3" >/dev/null 2>&1
	is "without Cordon: $1" "$(cmp -s "$2" "$tmp/was" || echo changed)" changed
	cat "$tmp/was" >"$2"
	inside_fails "inside: $1" "$denied" sh -c "$3"
	is "... and the file is as it was" "$(cat "$2")" "$(cat "$tmp/was")"
}

# hidden NAME FILE NAME_HERE: a file of the home's whose name in the work folder leads to it without Cordon, and
# inside to nothing.
hidden()
{
	kept "$1 is written by its name in the work folder" "$2" "echo 'version: 1 # x' >$3"
	like "without Cordon: $1 is read by that name" "$(cat "$3")" .
	inside_fails "inside: $1 is not read" "$denied" cat "$3"
	outside "$CORDON" why --policy "$tmp/policy.yaml" --path "$3"
	like "... why says so" "$said" '^no: '
}

# --- Cordon's own folders ---

own=$HOME/.config/cordon
mkdir -p "$own/profiles" "$own/agents" "$own/more/deep" sub/deep
for f in policy.yaml gateway.yaml profiles/mine.yaml more/deep/rules.yaml; do
	printf 'version: 1\n' >"$own/$f"
done
printf 'process: {memory: 256M}\n' >>"$own/policy.yaml"
cat >"$own/credentials.yaml" <<'END'
version: 1
credentials: {key: {from: {command: [sh, -c, "echo fake-5510"]}, hosts: [a.test], inject: {bearer: true}}}
END
ln "$own/policy.yaml" ceiling
ln "$own/gateway.yaml" sub/gateway
ln "$own/credentials.yaml" sub/deep/credentials
ln "$own/profiles/mine.yaml" profile
ln "$own/more/deep/rules.yaml" rules
hidden "the operator's ceiling" "$own/policy.yaml" ceiling
hidden "the gateway's settings" "$own/gateway.yaml" sub/gateway
hidden "the list of credentials" "$own/credentials.yaml" sub/deep/credentials
hidden "a profile" "$own/profiles/mine.yaml" profile
hidden "a file further down" "$own/more/deep/rules.yaml" rules
inside_says "the rest of the folder is the workload's" ok \
	sh -c 'echo y >other && mkdir -p sub/x && echo y >sub/x/f && echo ok'
policy <<'END'
filesystem: {workdir: read-only}
END
inside_fails "where it may only be read: the ceiling is not read" "$denied" cat ceiling
policy <<'END'
filesystem: {workdir: copy}
END
inside_fails "in a copy: the ceiling is not read" "$denied" cat ceiling
policy <<END
filesystem: {workdir: none, read: ["$work/ceiling"]}
END
inside_fails "named by itself: the ceiling is not read" "$denied" cat "$work/ceiling"
policy <<'END'
filesystem: {workdir: read-write}
END
rm ceiling
mkdir -p "$tmp/dots" && mv "$own" "$tmp/dots/cordon" && ln -s "$tmp/dots/cordon" "$own"
ln "$own/policy.yaml" ceiling
hidden "the ceiling in a folder that a link leads to" "$own/policy.yaml" ceiling
rm "$own" && mv "$tmp/dots/cordon" "$own"
mv "$own/policy.yaml" "$tmp/dots/p.yaml" && ln -s "$tmp/dots/p.yaml" "$own/policy.yaml"
hidden "the ceiling that is a link itself" "$tmp/dots/p.yaml" ceiling
rm "$own/policy.yaml"
export XDG_CONFIG_HOME=$tmp/elsewhere
mkdir -p "$XDG_CONFIG_HOME/cordon" && mv "$tmp/dots/p.yaml" "$XDG_CONFIG_HOME/cordon/policy.yaml"
hidden "the ceiling where XDG_CONFIG_HOME says" "$XDG_CONFIG_HOME/cordon/policy.yaml" ceiling
hidden "... and what is in the usual place" "$own/gateway.yaml" sub/gateway
unset XDG_CONFIG_HOME
rm -rf "$own" "$tmp/elsewhere" ./*

# --- the run's own policy ---

ln "$tmp/policy.yaml" mine.yaml
kept "the run's own policy is written by another name" "$tmp/policy.yaml" 'echo "version: 1" >mine.yaml'
rm mine.yaml

# --- a home's start-up files ---

mkdir -p "$HOME"/.config/{git,fish/conf.d,systemd/user,zed} \
	"$HOME"/.claude/commands "$HOME/.vim" "$HOME/.ssh" "$HOME/dots" sub
while read -r f; do
	echo "# mine" >"$HOME/$f"
	ln "$HOME/$f" sub/name
	kept "the home's $f is changed by its name in the work folder" "$HOME/$f" 'echo x >>sub/name'
	outside "$CORDON" why --policy "$tmp/policy.yaml" --write --path sub/name
	like "... why says so, and of which file" "$said" "^no: .*hard link of ~/${f//./\\.}"
	inside_says "... it can be read" "# mine" cat sub/name
	rm "$HOME/$f" sub/name
done <<'END'
.zshrc
.bashrc
.gitconfig
.vimrc
jupyter_notebook_config.py
.config/git/hooks
.config/fish/config.fish
.config/fish/conf.d/a.fish
.config/systemd/user/a.service
.config/zed/settings.json
.config/starship.toml
.claude/settings.json
.claude/commands/do.md
.vim/filetype.vim
.ssh/config
END
echo "# mine" >"$HOME/.zshrc"
ln "$HOME/.zshrc" zc
for how in 'mv zc other' 'rm zc' 'ln zc other && echo x >>other' 'echo x >new; mv -f new zc' 'chmod 777 zc' \
	'mv sub sub2 && mv zc sub2' 'truncate -s 0 zc' 'touch -d @1 zc'; do
	inside_fails "nor by another call: $how" "$denied" sh -c "$how"
done
is "... and the file is as it was" "$(cat "$HOME/.zshrc")" "# mine"
policy <<'END'
filesystem: {workdir: copy}
END
inside_fails "in a copy it is read-only, too" "$denied" sh -c 'echo x >>zc'
is "... and the file is as it was" "$(cat "$HOME/.zshrc")" "# mine"
policy <<'END'
filesystem: {workdir: read-write}
END
echo "SECRET=fake-9120" >"$HOME/.env"
ln "$HOME/.env" environment
inside_fails "the home's .env is not read by another name" "$denied" cat environment
rm zc environment "$HOME/.zshrc" "$HOME/.env"
echo "# mine" >"$HOME/dots/zshrc"
ln "$HOME/dots/zshrc" zc
ln -s dots/zshrc "$HOME/.zshrc"
kept "what a start-up file leads to is changed by another name" "$HOME/.zshrc" 'echo x >>zc'
rm -rf "$HOME/.zshrc" "$HOME/dots" zc
mkdir "$HOME/dots"
echo "# mine" >"$HOME/dots/more"
echo x >"$HOME/dots/hook"
printf '[include]\n\tpath = ~/dots/more\n[core]\n\thooksPath = %s/dots\n' "$HOME" >"$HOME/.gitconfig"
ln "$HOME/dots/more" more
ln "$HOME/dots/hook" hook
kept "what git's configuration includes is changed by another name" "$HOME/dots/more" 'echo x >>more'
kept "a hook of the user's is changed by another name" "$HOME/dots/hook" 'echo x >>hook'
rm -r "$HOME/.gitconfig" "$HOME/dots" more hook

# --- containers, which write to copies ---

for runtime in runc crun gvisor; do
	mkdir -p "$own" sub
	echo "# mine" >"$HOME/.zshrc"
	printf 'version: 1\nprocess: {memory: 512M}\n' >"$own/policy.yaml"
	ln "$HOME/.zshrc" zc
	ln "$HOME/.zshrc" sub/zd
	ln "$own/policy.yaml" ceiling
	outside "$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- sh -c 'echo ran; cat ceiling
		echo x >>zc; echo "version: 1" >ceiling; chmod 777 zc
		mv sub s2; echo x >>s2/zd; mkdir -p sub; echo x >sub/zd; chmod 777 sub/zd'
	if ! grep -q ran "$tmp/out"; then
		skip "$runtime: neither is changed or read" \
			"it does not run here: $(tail -n 1 "$tmp/err" | cut -c1-100)"
	else
		is "$runtime: the ceiling is not read" "$said" ran
		is "$runtime: neither is changed when its copy comes back" \
			"$(cat "$HOME/.zshrc" "$own/policy.yaml"; stat -c %a "$HOME/.zshrc")" \
			"$(printf '# mine\nversion: 1\nprocess: {memory: 512M}\n644')"
	fi
	rm -rf "$own" "$HOME/.zshrc" zc ceiling sub s2
done

# --- what is remembered of a search hides none ---

mkdir many
for i in $(seq 1100); do echo >"many/$i"; done
echo "# mine" >"$HOME/.zshrc"
echo "# mine" >many/zc
sleep 4
inside_works "a folder is searched, and known again" true
inside_works "... it is" true
ln -f many/zc "$HOME/.zshrc" # the folder itself does not change
kept "a start-up file that got another name in a folder that did not change" "$HOME/.zshrc" 'echo x >>many/zc'
finish
