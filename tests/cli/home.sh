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

logins claude .claude/.credentials.json .claude/.device-keys.json .claude/.session_ingress_token .claude/hfi-auth.json .claude/remote/.oauth_token .claude/ide/4711.lock .claude/backups/.claude.json.backup.1 .claude/.claude.json
logins codex .codex/auth.json .codex/.credentials.json .codex/secrets/local.age .codex/.sandbox-secrets/x .codex/proxy/ca.key
logins gemini .gemini/oauth_creds.json .gemini/gemini-credentials.json .gemini/mcp-oauth-tokens.json .gemini/mcp-oauth-tokens-v2.json .gemini/a2a-oauth-tokens.json .gemini/antigravity-cli/antigravity-oauth-token .gemini/google_accounts.json .gemini/cli-browser-profile/Default/Cookies .gemini/.env
logins opencode .local/share/opencode/auth.json .local/share/opencode/mcp-auth.json .local/share/opencode/account.json .local/state/opencode/service.json .local/state/opencode/password
logins aider .aider/oauth-keys.env .aider/.env
# --- what the same agents, or others, would run or obey outside later ---

# orders AGENT FILE...: none can be made, nor written where it is there; it can be read.
orders()
{
	local agent=$1 file
	shift
	rm -rf "$HOME/.${agent:?}" "$HOME/.local/share/$agent" "$HOME/.local/state/$agent"
	mkdir -p "$HOME/.$agent" "$HOME/.local/share/$agent" "$HOME/.local/state/$agent"
	outside "$CORDON" run --profile "$agent" -- sh -c "cd && for f; do (mkdir -p \"\${f%/*}\" && echo x >\"\$f\") 2>/dev/null && echo \"made: \$f\"; done; true" - "$@" </dev/null
	is "profile $agent: none of $# files that something would run or obey outside can be made" "$status:$said" "0:"
	for file; do
		mkdir -p "$HOME/${file%/*}" && rm -rf "${HOME:?}/$file" && echo was >"$HOME/$file" && chmod 755 "$HOME/$file"
	done
	outside "$CORDON" run --profile "$agent" -- sh -c "cd && for f; do (echo x >>\"\$f\") 2>/dev/null && echo \"wrote: \$f\"; (mv \"\$f\" x || rm \"\$f\") 2>/dev/null && echo \"took away: \$f\"; [ \"\$(cat \"\$f\")\" = was ] || echo \"cannot read: \$f\"; done" - "$@" </dev/null
	is "... nor written or taken away; they can be read" "$status:$said" "0:"
}

# states AGENT FILE...: the agent's own, which it makes and changes.
states()
{
	outside "$CORDON" run --profile "$1" -- sh -c "cd && for f; do mkdir -p \"\${f%/*}\" && echo x >\"\$f\" && echo x >>\"\$f\" && mv \"\$f\" \"\$f.x\" && mv \"\$f.x\" \"\$f\" || echo \"not: \$f\"; done" - "${@:2}" </dev/null
	is "profile $1: its state stays its own" "$status:$said" "0:"
}

orders claude .claude/.config.json .claude/remote-settings.json .claude/policy-limits.json .claude/cowork_settings.json .claude/cowork_plugins/x .claude/shell-snapshots/snapshot-bash-1.sh .claude/shell_snapshots/1.sh \
	.claude/chrome/chrome-native-host .claude/daemon.json .claude/daemon/roster.json .claude/jobs/1/state.json .claude/downloads/claude-1 .claude/mcp.json .claude/mcp-skill-archives/x/SKILL.md \
	.claude/keybindings.json .claude/loop.md .claude/bin/tool .claude/scripts/x .claude/notify.sh .claude/notify.py .claude/notify.mjs .claude/notify.js .claude/notify.ts \
	.claude/workflows/x.js .claude/routines/x.md .claude/launch.json .claude/scheduled_tasks.json
states claude .claude/projects/x/1.jsonl .claude/history.jsonl .claude/todos/x.json .claude/sessions/1.json .claude/stats-cache.json .claude/file-history/x/1 .claude/plans/x.md .claude/tasks/x/1.json .claude/debug/x.txt
orders codex .codex/tmp/arg0/codex-arg0x/git .codex/tmp/arg0/codex-arg0x/apply_patch .codex/shell_snapshots/1.sh .codex/shell-snapshots/1.sh .codex/work.config.toml .codex/managed_config.toml .codex/requirements.toml \
	.codex/environments.toml .codex/cloud-config-bundle-cache.json .codex/cloud-requirements-cache.json .codex/agents/x.toml .codex/instructions.md .codex/automations/x/automation.toml .codex/app-server-daemon/settings.json \
	.codex/.tmp/plugins/x/hooks.json .codex/.tmp/marketplaces/x/y .codex/vendor_imports/skills/x .codex/bin/rg .codex/scripts/x .codex/notify.sh .codex/notify.py .codex/notify.js
states codex .codex/sessions/2025/01/x.jsonl .codex/history.jsonl .codex/state_5.sqlite .codex/log/codex-tui.log .codex/tmp/x .codex/.tmp/x .codex/version.json .codex/models_cache.json
orders gemini .gemini/tmp/bin/rg .gemini/bin/litert/lit .gemini/antigravity/mcp_config.json .gemini/antigravity/global_workflows/x.md .gemini/antigravity-cli/settings.json .gemini/jetski/mcp_config.json .gemini/config/mcp_config.json \
	.gemini/mcp_config.json .gemini/trusted_hooks.json .gemini/acknowledgments/agents.json .gemini/extension_integrity.json .gemini/policy_integrity.json .gemini/mcp-server-enablement.json .gemini/sandbox.bashrc \
	.gemini/scripts/x .gemini/notify.sh .gemini/notify.py .gemini/notify.js
states gemini .gemini/tmp/x/chats/session.json .gemini/tmp/x/logs.json .gemini/projects.json .gemini/state.json .gemini/installation_id .gemini/history/x/.project_root
orders opencode .local/share/opencode/node_modules/x/index.js .local/share/opencode/package.json .local/share/opencode/lsp/x .local/share/opencode/bin/gopls .local/share/opencode/plugin/x.js .local/state/opencode/server.json
states opencode .local/share/opencode/opencode.db .local/share/opencode/storage/x.json .local/share/opencode/log/x.log .local/share/opencode/tool-output/x .local/state/opencode/kv.json .local/state/opencode/model.json
orders aider .aider/.aider.conf.yml
states aider .aider/caches/versioncheck .aider/analytics.json .aider/installs.json
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
