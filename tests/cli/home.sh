#!/bin/bash
# Policies about the home folder, where Cordon's own folders are: they are hidden in every run, and in nobody's way.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

# shown_says NAME WANT CMD...: it ends well and prints just that; what a rule that shows the whole home has to say is said, and nothing else.
shown_says()
{
	inside "${@:3}" </dev/null
	is "$1" "$status:$said:$(grep -c 'shows your whole home' "$tmp/err") of $(grep -c '' "$tmp/err")" "0:$2:1 of 1"
}

unset XDG_CONFIG_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_DATA_HOME
denied='Permission denied|No such file'
mkdir -p "$HOME/proj" "$HOME/.cache/pip" "$HOME/notes" "$HOME/.config/cordon/profiles"
echo hi >"$HOME/notes/n"
echo wheel >"$HOME/.cache/pip/w"
printf 'version: 1\nfilesystem: {workdir: read-write}\n' >"$HOME/.config/cordon/profiles/mine.yaml"
cd "$HOME/proj" || exit 99

# Some runs first: they leave a log, a cached policy and a root whose masks nobody can read.
policy <<'END_OF_POLICY'
filesystem: {workdir: read-write}
END_OF_POLICY
for _ in 1 2 3; do
	inside true
done
ok "there is something to be in the way" test -d "$HOME/.local/state/cordon/runs" -a -d "$HOME/.cache/cordon/roots"

# starts KEYS: a run starts, each time.
starts()
{
	policy <<<"filesystem: {workdir: read-write, $1}"
	inside_works "$1" true
	inside_works "$1, again" true
}

starts 'read: ["~"]'
shown_says "read: [\"~\"]: the home can be read" hi cat "$HOME/notes/n"
inside_fails "... and not written" 'Read-only|Permission denied' sh -c 'echo x >~/notes/new'
shown_says "... but for the work folder" made sh -c 'echo made >new && cat new'
for d in .cache/cordon .local/state/cordon .config/cordon; do
	inside_fails "... ~/$d is hidden" "$denied" ls "$HOME/$d"
done
ok "why agrees" sh -c '"$1" why --policy "$2" --path ~/notes/n | grep -q ^yes && ! "$1" why --policy "$2" --write --path ~/notes/n >/dev/null' - "$CORDON" "$tmp/policy.yaml"

starts 'write: ["~"]'
shown_says "write: [\"~\"]: the home can be written" there sh -c 'echo there >~/notes/there && cat ~/notes/there'
inside_fails "... but for what runs later" "$denied|Read-only" sh -c 'echo evil >~/.bashrc'
inside_fails "... and Cordon's own" "$denied" ls "$HOME/.cache/cordon"
ok "... and it is the host's" grep -q there "$HOME/notes/there"

starts 'read: ["~/.cache"]'
inside_says "read: [\"~/.cache\"]: it can be read" wheel cat "$HOME/.cache/pip/w"
inside_fails "... but for Cordon's own" "$denied" ls "$HOME/.cache/cordon"
starts 'write: ["~/.cache"]'
inside_fails "write: [\"~/.cache\"]: Cordon's own is hidden" "$denied" ls "$HOME/.cache/cordon"
starts 'read: ["~/.cache/*"]'
inside_fails "read: [\"~/.cache/*\"]: Cordon's own is hidden" "$denied" ls "$HOME/.cache/cordon"
starts 'read: ["~"], deny: ["~/.cache/**"]'
inside_fails "deny: [\"~/.cache/**\"] in a home that is shown" "$denied" ls "$HOME/.cache/pip"
# shellcheck disable=SC2088 # the policy expands it
for deny in '~/.cache/**' '~/.cache' '~/.*' '~/.local' '**/cordon'; do
	starts "deny: [\"$deny\"]"
done
cd "$work" || exit 99
starts 'deny: ["~"]'
cd "$HOME/proj" || exit 99
policy <<<'filesystem: {workdir: read-write, deny: ["~"]}'
inside true
ok "a work folder that is denied is refused, with the rule" refused 125 'work folder .*filesystem.deny .*policy.yaml'

# --- what is shown as a policy can be run as one ---

for profile in default strict; do
	"$CORDON" policy show "$profile" >"$tmp/policy.yaml"
	inside_works "policy show $profile: its output is a policy that runs" true
done

# --- logins of agents, which are in folders that their profiles show ---

# logins AGENT FILE...: each can be read here, and not in a run of the agent's profile.
logins()
{
	local agent=$1 file
	shift
	for file; do
		mkdir -p "$HOME/${file%/*}" && echo FAKE-TOKEN >"$HOME/$file"
	done
	outside "$CORDON" run --profile "$agent" -- sh -c 'cd && for f; do ! cat "$f" || echo "read: $f"; done' - "$@" </dev/null
	is "profile $agent: none of $# files with logins can be read" "$status:$said" "0:"
	outside "$CORDON" run --profile "$agent" -- sh -c "cd && for f; do (echo x >>\"\$f\") 2>/dev/null && echo \"wrote: \$f\"; done; true" - "$@" </dev/null
	is "... nor written" "$status:$said" "0:"
}

logins claude .claude/.credentials.json .claude/.device-keys.json .claude/.session_ingress_token .claude/remote/.oauth_token .claude/ide/4711.lock .claude/backups/.claude.json.backup.1 .claude/.claude.json
logins codex .codex/auth.json .codex/.credentials.json .codex/secrets/local.age .codex/.sandbox-secrets/x .codex/proxy/ca.key
logins gemini .gemini/oauth_creds.json .gemini/gemini-credentials.json .gemini/mcp-oauth-tokens.json .gemini/mcp-oauth-tokens-v2.json .gemini/a2a-oauth-tokens.json .gemini/antigravity-cli/antigravity-oauth-token .gemini/google_accounts.json .gemini/.env
logins opencode .local/share/opencode/auth.json .local/share/opencode/mcp-auth.json .local/share/opencode/account.json .local/state/opencode/service.json
logins aider .aider/oauth-keys.env .aider/.env
echo '{"primaryApiKey": "FAKE-KEY"}' >"$HOME/.claude.json"
printf 'version: 1\nextends: [claude]\nfilesystem: {deny: ["~/.claude.json"]}\n' >"$tmp/policy.yaml"
inside_fails "a policy on top of claude may deny ~/.claude.json" "$denied" cat "$HOME/.claude.json"

# --- other names of what the user keeps there ---

ln "$HOME/.config/cordon/profiles/mine.yaml" profile-here
policy <<<'filesystem: {workdir: read-write, read: ["~"]}'
inside_fails "another name of a file in the configuration's folder is hidden" "$denied" cat profile-here
for name in XDG_CONFIG_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_DATA_HOME; do
	export "$name=$HOME/all"
done
mkdir -p "$HOME/all/cordon" && echo mine >"$HOME/all/cordon/mine" && ln "$HOME/all/cordon/mine" mine-here
for _ in 1 2 3; do
	inside true
done
inside_works "with all folders in one" true
inside_fails "... another name of a file there is hidden" "$denied" cat mine-here
unset XDG_CONFIG_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_DATA_HOME

finish
