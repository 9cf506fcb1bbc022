#!/bin/bash
# Rebases and cherry-picks in a sandbox: they work, and what one leaves runs no program on the host unseen. With the real git.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

if ! command -v git >/dev/null; then
	skip "rebases" "no git here"
	finish
fi
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@test GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@test GIT_CONFIG_NOSYSTEM=1 GIT_EDITOR=true
names=(--env GIT_AUTHOR_NAME --env GIT_AUTHOR_EMAIL --env GIT_COMMITTER_NAME --env GIT_COMMITTER_EMAIL --env GIT_EDITOR)

# history: main and topic change the same line; topic has one commit more.
history()
{
	chmod -R u+rwX "$work" && rm -rf "${work:?}"/* "$work"/.[!.]* "$tmp/ran"
	git init -q -b main . && echo a >f && git add f && git commit -qm a && git checkout -q -b topic && echo b >f && git commit -qam b && echo c >g && git add g && git commit -qm g &&
		git checkout -q main && echo d >f && git commit -qam d && git checkout -q topic
}
run() # PROFILE COMMAND
{
	outside "$CORDON" run --profile "$1" "${names[@]}" -- sh -c "$2"
}
applied()
{
	outside "$CORDON" apply "$@" "$(runs | head -n 1)"
}
resolve='git checkout -q --theirs f && git add f'
evil="mkdir git-merge- && printf '#!/bin/sh\ntouch $tmp/ran\n' >git-merge-/evil && chmod +x git-merge-/evil"

for profile in default strict; do
	history
	run "$profile" "git rebase main; $resolve && git rebase --continue && git rebase -x 'git log -1 --format=%s >>said' HEAD~2"
	is "$profile: a rebase inside, with a conflict and with commands of its own, goes through" "$status:$(grep -c note: <<<"$told")" "0:0"
	[ "$profile" = default ] || applied
	is "$profile: and its history is the host's" "$(git log --format=%s | tr '\n' ' '):$(tr '\n' ' ' <said)" "g b d a :b g "

	history
	run "$profile" "git rebase main >/dev/null"
	[ "$profile" = default ] || applied
	is "$profile: one that stopped at a conflict is nothing to be warned of" "$(grep -c 'run a program\|runs a program' <<<"$told")" 0
	sh -c "$resolve && git rebase --continue" >/dev/null 2>&1
	is "$profile: and goes on outside" "$(git log --format=%s | tr '\n' ' ')" "g b d a "
done

# What each leaves, and what somebody types next; without a sandbox it runs a program.
plants=(
	"git rebase main >/dev/null; $resolve; echo 'exec touch $tmp/ran' >>.git/rebase-merge/git-rebase-todo"
	"git rebase main >/dev/null; $resolve; $evil; echo /evil >.git/rebase-merge/strategy"
	"git checkout -q main; git cherry-pick topic~1 topic >/dev/null; $resolve; $evil; printf '[options]\n\tstrategy = /evil\n' >.git/sequencer/opts"
	"git rebase main >/dev/null; $resolve; echo 'exec touch $tmp/ran' >>.git/rebase-merge/git-rebase-todo; mv .git/rebase-merge planted; ln -s ../planted .git/rebase-merge"
)
next=("git rebase --continue" "git rebase --continue" "git cherry-pick --continue" "git rebase --continue")
whats=("a list of a rebase" "the strategy of a rebase" "the strategy of a cherry-pick" "a list behind a link")
for i in "${!plants[@]}"; do
	history
	sh -c "${plants[i]}; ${next[i]}" >/dev/null 2>&1
	ok "${whats[i]}: runs a program (control)" test -e "$tmp/ran"
	history
	run default "${plants[i]}"
	like "${whats[i]}: is told" "$told" 'note: .*/\.git/(rebase-merge|sequencer)/.*git runs a program'
	sleep 0.05 # what is no older than a tick of the clock could be the next run's
	run default true
	is "${whats[i]}: once, by the run that left it" "$(grep -c note: <<<"$told")" 0
	history
	run strict "${plants[i]}"
	applied
	ok "${whats[i]}: does not come back from a copy" test "$status" = 125
	applied --skip-refused
	sh -c "${next[i]}" >/dev/null 2>&1
	ok "${whats[i]}: nor does it with the rest" test ! -e "$tmp/ran"
done

# Repositories within one: submodules, theirs, and linked worktrees of both.
history
git init -q "$tmp/other" && git -C "$tmp/other" commit -q --allow-empty -m o
add=(-c protocol.file.allow=always submodule --quiet add "$tmp/other")
git "${add[@]}" libs/sub && git -C libs/sub "${add[@]}" deep && git worktree add -q "$tmp/tree" main && git -C libs/sub worktree add -q "$tmp/subtree"
for at in .git/modules/libs/sub .git/modules/libs/sub/modules/deep .git/worktrees/tree .git/modules/libs/sub/worktrees/subtree; do
	run default "mkdir $at/rebase-merge && echo 'exec touch $tmp/ran' >$at/rebase-merge/git-rebase-todo"
	like "$at: what is left there is told" "$told" "note: [^ ]*/$at/rebase-merge/git-rebase-todo: .*git runs a program"
	rm -rf "$at/rebase-merge"
done
run default "cd .git/worktrees && mkdir \$(seq 1 1500) && mkdir tree/rebase-merge && echo 'exec touch $tmp/ran' >tree/rebase-merge/git-rebase-todo"
like "a worktree among many folders that are none: what is left there is told" "$told" 'note: .*/worktrees/tree/rebase-merge/'
(cd .git/worktrees && for i in {1..1001}; do echo ../.. >"$i/commondir"; done)
run default true
like "more worktrees than are looked at: that is told" "$told" 'note: .*/\.git/worktrees: there are more than 1000'

for shut in .git .git/rebase-merge .git/rebase-merge/git-rebase-todo; do
	history
	run default "mkdir .git/rebase-merge && echo 'exec touch $tmp/ran' >.git/rebase-merge/git-rebase-todo && chmod 0300 $shut"
	like "what is left is told although $shut is shut" "$told" 'note: .*/\.git/rebase-merge/git-rebase-todo: .*git runs a program'
	chmod -R u+rwX .git
done

history
git rebase -x true -x 'exit 3' main >/dev/null 2>&1
sleep 0.05 # what is no older than a tick of the clock could be the run's
run default 'echo work >more'
is "a rebase of the host's own, with its commands, is nobody's business" "$status:$told" "0:"
run strict 'echo work >more2'
applied
is "nor is it in a copy" "$status:$(cat more2)" "0:work"
finish
