#!/bin/bash
# Wherever git's configuration stands, and however it is written: hooks and settings that the host's git would take from what a run can write are protected, there or not.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_NOSYSTEM=1
unset GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM
ran=$tmp/ran
cat >"$tmp/hook" <<END
#!/bin/sh
touch $ran
END

# fresh: an empty work folder that is a repository, and a home without settings.
fresh()
{
	cd "$tmp" && rm -rf "$tmp/work" "$tmp/up" "$HOME" "$XDG_CONFIG_HOME/git" "$ran" && mkdir -p "$tmp/work" "$HOME" && cd "$tmp/work" && git init -q . 2>/dev/null
}

# no_hook NAME PLACE [FOLDER]: a run cannot write a hook at PLACE, and the host's git in FOLDER runs none.
no_hook()
{
	inside sh -c 'mkdir -p "$0"; cat >"$0/pre-commit" && chmod +x "$0/pre-commit" && echo made' "$2" <"$tmp/hook"
	is "$1: no hook is written" "$said" ""
	like "$1: the run itself was not refused" "$told" 'Permission denied|Read-only|not permitted|nonexistent|cannot create'
	git -C "${3:-.}" commit -q --allow-empty -m x 2>/dev/null
	ok "$1: none runs" test ! -e "$ran"
	rm -f "$ran"
}

# --- where it stands ---

fresh
git config include.path ../.settings
git config -f .settings core.hooksPath .githooks
no_hook "included by the repository" .githooks

fresh
git config include.path ../one
git config -f one includeIf.gitdir:/.path two
git config -f two core.hooksPath .githooks
no_hook "included by what is included, on a condition" .githooks
inside_fails "included by what is included: the file itself" 'denied|Read-only' sh -c 'echo x >>two'

fresh
# shellcheck disable=SC2088 # it is git's
git config --global include.path '~/.gitconfig.local'
git config -f ~/.gitconfig.local core.hooksPath .githooks
no_hook "included by the user's" .githooks

fresh
git config --global core.hooksPath "$PWD/.githooks"
no_hook "the user's, absolute" .githooks

fresh
git config --global include.path "$PWD/dotfiles/gitconfig"
inside_fails "the user's includes what is shown" 'denied|Read-only|nonexistent' sh -c 'mkdir -p dotfiles; echo x >dotfiles/gitconfig'

fresh
mkdir -p "$XDG_CONFIG_HOME/git"
git config -f "$XDG_CONFIG_HOME/git/config" core.hooksPath .githooks
no_hook "in XDG_CONFIG_HOME" .githooks

fresh
git config -f "$tmp/elsewhere" core.hooksPath .githooks
export GIT_CONFIG_GLOBAL=$tmp/elsewhere
no_hook "in GIT_CONFIG_GLOBAL" .githooks
unset GIT_CONFIG_GLOBAL

fresh
git commit -q --allow-empty -m 1
git config extensions.worktreeConfig true
git config --worktree core.hooksPath .githooks
no_hook "config.worktree" .githooks

fresh
git commit -q --allow-empty -m 1
git config core.hooksPath .githooks
git worktree add -q trees/one 2>/dev/null
no_hook "a linked worktree in the work folder" trees/one/.githooks trees/one

fresh
mkdir "$tmp/up" && git init -q "$tmp/up" 2>/dev/null
git -C "$tmp/up" commit -q --allow-empty -m 1
git -C "$tmp/up" config core.hooksPath .githooks
rm -rf "$tmp/work" && git -C "$tmp/up" worktree add -q "$tmp/work" 2>/dev/null
cd "$tmp/work" || exit 99
no_hook "the work folder is a linked worktree" .githooks

fresh
rm -rf "$tmp/up" && git init -q "$tmp/up" 2>/dev/null && mkdir "$tmp/up/app" && cd "$tmp/up/app" || exit 99
git config core.hooksPath app/.githooks
no_hook "the work folder is a subfolder" .githooks
git init -q . 2>/dev/null
no_hook "the work folder is a repository in another" .githooks ..

fresh
git init -q "$tmp/up" 2>/dev/null
git -C "$tmp/up" commit -q --allow-empty -m 1
git -c protocol.file.allow=always submodule --quiet add "$tmp/up" libs/sub 2>/dev/null
git -C libs/sub config core.hooksPath .githooks
no_hook "a submodule" libs/sub/.githooks libs/sub
git -C libs/sub config --unset core.hooksPath
git config --global core.hooksPath .githooks
no_hook "a submodule, by the user's" libs/sub/.githooks libs/sub

fresh
mv .git "$tmp/work/store"
ln -s store .git
git config core.hooksPath .githooks
no_hook ".git is a link" .githooks

fresh
git config core.hooksPath pushed
inside_fails "a relative path, from the repository's own folder" 'denied|Read-only|nonexistent' sh -c 'mkdir -p .git/pushed; echo x >.git/pushed/pre-receive'

fresh
mkdir sub
git config core.worktree ../sub
git config core.hooksPath .githooks
no_hook "core.worktree" sub/.githooks

# A repository that the run makes has no configuration, and obeys the user's.
made='mkdir -p new/.git/objects new/.git/refs && echo ref: refs/heads/x >new/.git/HEAD'
for path in .githooks ./x/..//.githooks/ ../.githooks; do
	fresh
	git config --global core.hooksPath "$path"
	inside_works "a new repository, by the user's $path: it is made" sh -c "$made"
	no_hook "a new repository, by the user's $path" new/.githooks new
	inside_fails "a new repository, by the user's $path: a folder of another name" 'denied|cross-device|not permitted' sh -c 'mkdir -p new/o && mv new/o new/.githooks'
done
fresh
git config --global core.hooksPath 'tools/my hooks'
inside_fails "a new repository, by the user's: a link on the way" 'denied|not permitted|Read-only' sh -c "$made && mkdir -p new/o/my\ hooks && ln -s o new/tools && echo made"
inside_works "a new repository, by the user's: what stands beside it" sh -c 'mkdir -p tools/mine "my hooks" && echo x >"my hooks/x"'

# --- links in a folder of hooks that is not shown ---

fresh
git init -q "$tmp/up" 2>/dev/null && mkdir -p "$tmp/up/.git/hooks" "$tmp/up/app/scripts" && cp "$tmp/hook" "$tmp/up/app/scripts/there" && chmod +x "$tmp/up/app/scripts/there" && cd "$tmp/up/app" || exit 99
ln -s ../../app/scripts/there "$tmp/up/.git/hooks/pre-commit"
ln -s ../../app/scripts/missing "$tmp/up/.git/hooks/pre-push"
mkdir "$HOME/hooks" && ln -s "$PWD/scripts/mine" "$HOME/hooks/post-commit"
# shellcheck disable=SC2088 # it is git's
git config --global core.hooksPath '~/hooks'
for f in there missing mine; do
	inside_fails "scripts/$f: what a hook leads to" 'denied|Read-only' sh -c 'echo x >>"scripts/$0"' "$f"
done
inside_works "scripts/other: what stands beside it" sh -c 'echo x >>scripts/other'
mv "$HOME/hooks" "$HOME/real" && ln -s "$PWD/scripts/all" "$HOME/hooks"
inside_fails "scripts/all: what a folder of hooks leads to" 'denied|Read-only|nonexistent' sh -c 'mkdir -p scripts/all; echo x >scripts/all/pre-commit'

# --- hooks that git copies ---

fresh
git config --global init.templateDir "$PWD/template"
inside_fails "a template for new repositories" 'denied|Read-only|nonexistent' sh -c 'mkdir -p template/hooks; echo x >template/hooks/pre-commit'

# --- how it is written ---

# written NAME TEXT [VALUE [PLACE]]: the repository's configuration ends in TEXT, for printf, which sets VALUE.
written()
{
	fresh
	# shellcheck disable=SC2059
	printf "$2" >>.git/config
	is "$1: git reads it" "$(git config --path core.hooksPath)" "${3:-.githooks}"
	no_hook "$1" "${4:-$(git config --path core.hooksPath)}"
}
written "a continued line" '[core]\n\thooksPath = .git\\\nhooks\n'
written "in one line with its section" '[CORE] HooksPath=.githooks'
written "quotes in the middle" '[core]\n\thooksPath = .git"hooks" # "\n'
written "an escaped quote" '[core]\n\thooksPath = a\\"b\n' 'a"b'
written "an escaped tab" '[core]\n\thooksPath = "a\\tb"\n' $'a\tb'
written "behind an old section" '[x.y]\na=b\n[x "]"]\n[core]hooksPath=.githooks\r\n'
me=$(id -un)
there=$(getent passwd "$me" | cut -d: -f6)
if [ -d "$there" ]; then
	written "with the name of a user" "[core]\nhooksPath = ~$me/../../../../../..$tmp/work/.githooks\n" "$there/../../../../../..$tmp/work/.githooks" .githooks
else
	skip "with the name of a user" "$me has no home"
fi

fresh
printf '\357\273\277[core]\n\trepositoryformatversion = 0\n\thooksPath = .githooks\n' >.git/config
no_hook "behind a byte order mark" .githooks

fresh
printf '[includeIf\t"gitdir:/"]\n\tpath = ../inc\n' >>.git/config
git config -f inc core.hooksPath .githooks
no_hook "a condition behind a tab" .githooks
inside_fails "a condition behind a tab: the file itself" 'denied|Read-only' sh -c 'echo x >>inc'

fresh
seq -f '[branch "feature/some-long-name-%g"]' 1 12000 >>.git/config
git config core.hooksPath .githooks
no_hook "in a file of $(($(stat -c %s .git/config) / 1024)) KiB" .githooks

fresh
{
	printf '#'
	head -c 9000000 /dev/zero | tr '\0' x
	printf '\n[core]\nhooksPath = .githooks\n'
} >>.git/config
inside true
ok "a file that is too large is refused, with what to do" failed_with '\.git/config is larger than .* MiB.*make it smaller'

fresh
git config core.hooksPath .
inside true
ok "hooks that are all of the work folder are refused, with what to do" failed_with 'has all of .* use another'

# A file of a clone that names thousands of them: every work tree has every folder of hooks.
fresh
mkdir -p x/objects x/refs && echo 'ref: refs/heads/main' >x/HEAD
{ printf '[core]\nbare = true\n'; seq -f 'hooksPath = q%g' 1000; seq -f 'worktree = /z%g' 2000; } >x/config
inside true
ok "a configuration that names thousands of folders is refused, and says so" failed_with 'more than 64 folders of hooks or work trees'

fresh
printf '[include]\npath = config\npath = config\npath = ../inc\n' >>.git/config
printf '[include]\npath = inc\n' >inc
inside_works "files that include themselves hinder nobody" true

# --- from one run to the next ---

fresh
inside_works "before it is set: the same place can be written" sh -c 'mkdir .githooks; echo x >.githooks/x; rm -r .githooks'
git config core.hooksPath .githooks
no_hook "set between two runs" .githooks
fresh
# shellcheck disable=SC2088 # it is git's
git config --global include.path '~/.more'
inside_works "before it is set in an included file: the same place can be written" sh -c 'mkdir .githooks; rm -r .githooks'
git config -f ~/.more core.hooksPath .githooks
no_hook "set between two runs in an included file" .githooks
rm ~/.more
outside "$CORDON" run --policy "$tmp/policy.yaml" --owner one -- sh -c 'mkdir .githooks && rmdir .githooks'
ok "before it is set, in a sandbox that is kept: the same place can be written" succeeded
git config -f ~/.more core.hooksPath .githooks
outside "$CORDON" run --policy "$tmp/policy.yaml" --owner one -- mkdir .githooks
ok "set between two runs, with a sandbox that is kept" failed_with 'Permission denied'
"$CORDON" stop --all >/dev/null 2>&1
finish
