#include "policy/policy_mandatory.h"

#include "base/cleanup.h"

#define GIT         "git would run it, or be told to run something, at the next command in this repository"
#define GIT_LOCK    "git makes it its configuration by renaming it"
#define HOOKS       "the hooks of this repository run what it names at the next commit"
#define GIT_MODULES "git takes remote addresses or update commands from it"
#define SHELL       "a shell runs it at its start or end"
#define PROMPT      "every prompt of a shell runs commands from it"
#define READLINE    "line editing in every shell and debugger takes key bindings from it"
#define PAM         "every login takes its environment from it"
#define SESSION     "the desktop session runs it"
#define HG          "Mercurial or Sapling runs hooks and extensions that it names"
#define VCS         "its version control system runs programs, hooks or tests that it names"
#define SSH         "ssh runs commands from it, and it decides who may log in"
#define DEBUGGER    "a debugger runs commands from it"
#define REPL        "an interpreter runs it when it is started in this folder"
#define LAUNCHED    "a desktop or its message bus starts the program that it names"
#define TERMINAL    "a terminal starts programs that it names, or is scripted by it"
#define NOTEBOOK    "Jupyter or IPython runs it at its start"
#define SYSTEMD     "the user's service manager runs what it names"
#define SYSTEMD_ENV "the user's service manager, and all that it starts, takes its environment from it"
#define DIRENV      "direnv runs it when a shell enters the folder"
#define RVM         "rvm runs it when a shell enters the folder"
#define MISE        "mise runs hooks and scripts that it names when a shell enters the folder"
#define EDITOR      "an editor runs commands from it"
#define RIPGREP     "ripgrep takes options from it, and one of them runs a program"
#define R_START     "R runs it, or takes its environment from it, at its start in this folder"
#define FILES       "a file manager or viewer runs commands that it names"
#define HERMIT      "Hermit runs it when a shell enters the repository"
#define LAZYGIT     "lazygit or tig runs commands that it names"
#define CLIENT      "a client of a database, or of mail, runs commands from it"
#define PICKLE      "Python would make objects of what is in it, which is to run it"
#define AGENT       "an agent outside the sandbox would run commands, hooks or servers from it"

const struct mandatory mandatory_deny[] = {
	{"**/.env", "such files hold secrets by convention"},
	{NULL, NULL},
};

const struct mandatory mandatory_protect[] = {
	{"**/.git/hooks/**", GIT},
	{"**/.git/config", GIT},
	{"**/.git/config.lock", GIT_LOCK},
	{"**/.git/config.worktree", GIT},
	{"**/.git/config.worktree.lock", GIT_LOCK},
	{"**/.git/commondir", GIT},
	{"**/.git/worktrees/*/commondir", GIT},
	{"**/.git/worktrees/*/config.worktree", GIT},
	{"**/.git/worktrees/*/config.worktree.lock", GIT_LOCK},
	{"**/.git/worktrees/*/gitdir", GIT},
	{"**/.git/modules/**/hooks/**", GIT},
	{"**/.git/modules/**/config", GIT},
	{"**/.git/modules/**/config.lock", GIT_LOCK},
	{"**/.git/modules/**/commondir", GIT},
	{"**/.git/modules/**/config.worktree", GIT},
	{"**/.git/modules/**/config.worktree.lock", GIT_LOCK},
	{"**/.git/sl/config", HG},
	{"**/.git/sl/sharedpath", HG},
	{"**/.gitconfig", GIT},
	{"**/.gitconfig.lock", GIT_LOCK},
	{"**/.config/git/**", GIT},
	{"**/.git/lazygit.yml", LAZYGIT},
	{"**/.git/modules/**/lazygit.yml", LAZYGIT},
	{"**/.lazygit.yml", LAZYGIT},
	{"**/.config/lazygit/**", LAZYGIT},
	{"**/.config/jesseduffield/lazygit/**", LAZYGIT},
	{"**/.tigrc", LAZYGIT},
	{"**/.config/tig/**", LAZYGIT},
	{"**/.gitmodules", GIT_MODULES},
	{"**/.git/remotes/**", GIT_MODULES},
	{"**/.git/branches/**", GIT_MODULES},
	{"**/.husky/**", GIT},
	{"**/.pre-commit-config.yaml", HOOKS},
	{"**/lefthook.yml", HOOKS},
	{"**/.lefthook.yml", HOOKS},
	{"**/lefthook.yaml", HOOKS},
	{"**/.lefthook.yaml", HOOKS},
	{"**/lefthook-local.yml", HOOKS},
	{"**/.lefthook-local.yml", HOOKS},
	{"**/lefthook.toml", HOOKS},
	{"**/lefthook.json", HOOKS},
	{"**/.lefthook/**", HOOKS},
	{"**/prek.toml", HOOKS},
	{"**/.pre-commit-config.yml", HOOKS},
	{"**/.overcommit.yml", HOOKS},
	{"**/.git-hooks/**", HOOKS},
	{"**/.huskyrc", HOOKS},
	{"**/.huskyrc.js", HOOKS},
	{"**/.huskyrc.json", HOOKS},
	{"**/.rusty-hook.toml", HOOKS},
	{"**/captainhook.json", HOOKS},
	{"**/grumphp.yml", HOOKS},
	{"**/.repo/repo/**", VCS},
	{"**/.hg/hgrc", HG},
	{"**/.hg/hgrc-not-shared", HG},
	{"**/.hg/sharedpath", HG},
	{"**/.hgrc", HG},
	{"**/.config/hg/**", HG},
	{"**/.sl/config", HG},
	{"**/.sl/sharedpath", HG},
	{"**/.jj/repo/config.toml", VCS},
	{"**/.jj/repo/store/git_target", VCS},
	{"**/.jj/workspace-config.toml", VCS},
	{"**/.jjconfig.toml", VCS},
	{"**/.config/jj/**", VCS},
	{"**/.bzr/branch/branch.conf", VCS},
	{"**/.bzr/branch/location", VCS},
	{"**/_darcs/prefs/defaults", VCS},
	{"**/_darcs/prefs/prefs", VCS},
	{"**/.pijul/config", VCS},
	{"**/_MTN/monotonerc", VCS},
	{"**/.ssh/**", SSH},
	{"**/.gdbinit", DEBUGGER},
	{"**/.gdbearlyinit", DEBUGGER},
	{"**/.config/gdb/**", DEBUGGER},
	{"**/.lldbinit", DEBUGGER},
	{"**/.pdbrc", DEBUGGER},
	{"**/.perldb", DEBUGGER},
	{"**/.jdbrc", DEBUGGER},
	{"**/.byebugrc", DEBUGGER},
	{"**/.rdbgrc", DEBUGGER},
	{"**/.irbrc", REPL},
	{"**/.pryrc", REPL},
	{"**/.ghci", REPL},
	{"**/.ocamlinit", REPL},
	{"**/.octaverc", REPL},
	{"**/.iex.exs", REPL},
	{"**/.erlang", REPL},
	{"**/.config/erlang/**", REPL},
	{"**/.ptpython/**", REPL},
	{"**/.config/ptpython/**", REPL},
	{"**/.guile", REPL},
	{"**/.julia/config/**", REPL},
	{"**/.sbclrc", REPL},
	{"**/.psysh.php", REPL},
	{"**/.psysh/**", REPL},
	{"**/.config/psysh/**", REPL},
	{"**/jupyter*_config.py", NOTEBOOK},
	{"**/jupyter*_config.json", NOTEBOOK},
	{"**/ipython*_config.py", NOTEBOOK},
	{"**/.ipython/profile_*/startup/**", NOTEBOOK},
	{"**/.config/ipython/profile_*/startup/**", NOTEBOOK},
	{"**/.psqlrc", CLIENT},
	{"**/.sqliterc", CLIENT},
	{"**/.mongoshrc.js", CLIENT},
	{"**/.mailcap", CLIENT},
	{"**/.procmailrc", CLIENT},
	{"**/.muttrc", CLIENT},
	{"**/.tmux.conf", SESSION},
	{"**/.config/tmux/**", SESSION},
	{"**/.tmux/plugins/**", SESSION},
	{"**/.screenrc", SESSION},
	{"**/.devcontainer/**", EDITOR},
	{"**/.devcontainer.json", EDITOR},
	{"**/.bashrc", SHELL},
	{"**/.bashrc.d/**", SHELL},
	{"**/.bash_aliases", SHELL},
	{"**/.bash_profile", SHELL},
	{"**/.bash_login", SHELL},
	{"**/.bash_logout", SHELL},
	{"**/.profile", SHELL},
	{"**/.zshrc", SHELL},
	{"**/.zshenv", SHELL},
	{"**/.zprofile", SHELL},
	{"**/.zlogin", SHELL},
	{"**/.zlogout", SHELL},
	{"**/.zshrc.zwc", SHELL},
	{"**/.zshenv.zwc", SHELL},
	{"**/.zprofile.zwc", SHELL},
	{"**/.zlogin.zwc", SHELL},
	{"**/.zlogout.zwc", SHELL},
	{"**/.kshrc", SHELL},
	{"**/.cshrc", SHELL},
	{"**/.tcshrc", SHELL},
	{"**/.login", SHELL},
	{"**/.logout", SHELL},
	{"**/.shrc", SHELL},
	{"**/.config/fish/**", SHELL},
	{"**/.config/nushell/**", SHELL},
	{"**/.config/powershell/**", SHELL},
	{"**/.config/xonsh/**", SHELL},
	{"**/.xonshrc", SHELL},
	{"**/.config/elvish/**", SHELL},
	{"**/.elvish/**", SHELL},
	{"**/.config/ion/**", SHELL},
	{"**/.mkshrc", SHELL},
	{"**/.cargo/env", SHELL},
	{"**/.nvm/nvm.sh", SHELL},
	{"**/.nvm/bash_completion", SHELL},
	{"**/.yashrc", SHELL},
	{"**/.bash_completion", SHELL},
	{"**/.p10k.zsh", SHELL},
	{"**/.zpreztorc", SHELL},
	{"**/.zimrc", SHELL},
	{"**/.oh-my-zsh/**", SHELL},
	{"**/.fzf.bash", SHELL},
	{"**/.fzf.zsh", SHELL},
	{"**/.config/starship.toml", PROMPT},
	{"**/.local/share/bash-completion/**", SHELL},
	{"**/.inputrc", READLINE},
	{"**/.pam_environment", PAM},
	{"**/.xprofile", SESSION},
	{"**/.xinitrc", SESSION},
	{"**/.xsession", SESSION},
	{"**/.xsessionrc", SESSION},
	{"**/.xserverrc", SESSION},
	{"**/.config/autostart/**", SESSION},
	{"**/.config/plasma-workspace/**", SESSION},
	{"**/.config/openbox/**", SESSION},
	{"**/.config/sway/**", SESSION},
	{"**/.config/i3/**", SESSION},
	{"**/.config/hypr/**", SESSION},
	{"**/.config/awesome/**", SESSION},
	{"**/.config/qtile/**", SESSION},
	{"**/.config/bspwm/**", SESSION},
	{"**/.config/sxhkd/**", SESSION},
	{"**/.config/herbstluftwm/**", SESSION},
	{"**/.local/share/applications/**", LAUNCHED},
	{"**/.local/share/dbus-1/services/**", LAUNCHED},
	{"**/.config/kitty/**", TERMINAL},
	{"**/.wezterm.lua", TERMINAL},
	{"**/.config/wezterm/**", TERMINAL},
	{"**/.config/ghostty/**", TERMINAL},
	{"**/.config/alacritty/**", TERMINAL},
	{"**/.alacritty.toml", TERMINAL},
	{"**/.alacritty.yml", TERMINAL},
	{"**/.config/foot/**", TERMINAL},
	{"**/.config/zellij/**", TERMINAL},
	{"**/.config/niri/**", SESSION},
	{"**/.config/river/**", SESSION},
	{"**/.config/labwc/**", SESSION},
	{"**/.config/waybar/**", SESSION},
	{"**/.config/polybar/**", SESSION},
	{"**/.config/dunst/**", SESSION},
	{"**/.xmonad/**", SESSION},
	{"**/.config/xmonad/**", SESSION},
	{"**/.config/ranger/**", FILES},
	{"**/.config/yazi/**", FILES},
	{"**/.config/lf/**", FILES},
	{"**/.lessfilter", FILES},
	{"**/.xbindkeysrc", SESSION},
	{"**/.config/systemd/**", SYSTEMD},
	{"**/.local/share/systemd/user/**", SYSTEMD},
	{"**/.config/environment.d/**", SYSTEMD_ENV},
	{"**/.envrc", DIRENV},
	{"**/.config/direnv/**", DIRENV},
	{"**/.autoenv.zsh", DIRENV},
	{"**/.autoenv_leave.zsh", DIRENV},
	{"**/.autoenv", DIRENV},
	{"**/.autoenv.leave", DIRENV},
	{"**/.env.leave", DIRENV},
	{"**/.rvmrc", RVM},
	{"**/activate-hermit", HERMIT},
	{"**/hermit.hcl", HERMIT},
	{"**/mise.toml", MISE},
	{"**/mise.*.toml", MISE},
	{"**/.mise.toml", MISE},
	{"**/.mise.*.toml", MISE},
	{"**/mise/config.toml", MISE},
	{"**/mise/config.*.toml", MISE},
	{"**/mise/conf.d/**", MISE},
	{"**/.mise/**", MISE},
	{"**/.config/mise/**", MISE},
	{"**/.vimrc", EDITOR},
	{"**/_vimrc", EDITOR},
	{"**/.local.vimrc", EDITOR},
	{"**/.vim/**", EDITOR},
	{"**/.config/vim/**", EDITOR},
	{"**/.gvimrc", EDITOR},
	{"**/.exrc", EDITOR},
	{"**/.nvimrc", EDITOR},
	{"**/.nvim.lua", EDITOR},
	{"**/.lazy.lua", EDITOR},
	{"**/.local/share/nvim/**", EDITOR},
	{"**/.ideavimrc", EDITOR},
	{"**/.lvimrc", EDITOR},
	{"**/.emacs", EDITOR},
	{"**/.emacs.el", EDITOR},
	{"**/.emacs.elc", EDITOR},
	{"**/.emacs.d/**", EDITOR},
	{"**/.spacemacs", EDITOR},
	{"**/.spacemacs.d/**", EDITOR},
	{"**/.doom.d/**", EDITOR},
	{"**/.config/doom/**", EDITOR},
	{"**/.dir-locals.el", EDITOR},
	{"**/.dir-locals-2.el", EDITOR},
	{"**/.config/nvim/**", EDITOR},
	{"**/.config/emacs/**", EDITOR},
	{"**/.config/helix/**", EDITOR},
	{"**/.config/zed/**", EDITOR},
	{"**/.vscode/**", EDITOR},
	{"**/.config/Code/User/**", EDITOR},
	{"**/.config/VSCodium/User/**", EDITOR},
	{"**/.theia/**", EDITOR},
	{"**/.externalToolBuilders/**", EDITOR},
	{"**/.idea/**", EDITOR},
	{"**/.fleet/**", EDITOR},
	{"**/.run/**", EDITOR},
	{"**/.zed/**", EDITOR},
	{"**/.helix/**", EDITOR},
	{"**/*.code-workspace", EDITOR},
	{"**/*.sublime-project", EDITOR},
	{"**/.nanorc", EDITOR},
	{"**/.config/nano/**", EDITOR},
	{"**/.kakrc", EDITOR},
	{"**/.config/kak/**", EDITOR},
	{"**/.config/micro/**", EDITOR},
	{"**/.ripgreprc", RIPGREP},
	{"**/.Rprofile", R_START},
	{"**/.Renviron", R_START},
	{"**/.RData", R_START},
	{"**/.mcp.json", AGENT},
	{"**/.claude/settings.json", AGENT},
	{"**/.claude/settings.local.json", AGENT},
	{"**/.claude/commands/**", AGENT},
	{"**/.claude/agents/**", AGENT},
	{"**/.claude/hooks/**", AGENT},
	{"**/.claude/skills/**", AGENT},
	{"**/.claude/plugins/**", AGENT},
	{"**/.claude/session-env/*/*.sh", AGENT},
	{"**/.claude/workflows/**", AGENT},
	{"**/.claude/routines/**", AGENT},
	{"**/.claude/launch.json", AGENT},
	{"**/.claude/scheduled_tasks.json", AGENT},
	{"**/.claude.json", AGENT},
	{"**/.codex/config.toml", AGENT},
	{"**/.codex/hooks/**", AGENT},
	{"**/.codex/hooks.json", AGENT},
	{"**/.codex/rules/**", AGENT},
	{"**/.codex/agents/**", AGENT},
	{"**/.gemini/settings.json", AGENT},
	{"**/.gemini/commands/**", AGENT},
	{"**/.gemini/extensions/**", AGENT},
	{"**/.gemini/agents/**", AGENT},
	{"**/.gemini/hooks/**", AGENT},
	{"**/.gemini/policies/**", AGENT},
	{"**/.gemini/skills/**", AGENT},
	{"**/.gemini/sandbox*", AGENT},
	{"**/.qwen/settings.json", AGENT},
	{"**/.qwen/agents/**", AGENT},
	{"**/.qwen/commands/**", AGENT},
	{"**/.qwen/hooks/**", AGENT},
	{"**/.qwen/extensions/**", AGENT},
	{"**/.roo/mcp.json", AGENT},
	{"**/.kiro/settings/mcp.json", AGENT},
	{"**/.kiro/agents/**", AGENT},
	{"**/.kiro/hooks/**", AGENT},
	{"**/.kilocode/mcp.json", AGENT},
	{"**/.amazonq/mcp.json", AGENT},
	{"**/.amazonq/cli-agents/**", AGENT},
	{"**/.junie/mcp/**", AGENT},
	{"**/.trae/mcp.json", AGENT},
	{"**/.vs/mcp.json", AGENT},
	{"**/.pi/settings.json", AGENT},
	{"**/.codex/environments/**", AGENT},
	{"**/.github/extensions/**", AGENT},
	{"**/gptme.toml", AGENT},
	{"**/.windsurf/**", AGENT},
	{"**/.continue/**", AGENT},
	{"**/crush.json", AGENT},
	{"**/.crush.json", AGENT},
	{"**/.cursor/**", AGENT},
	{"**/.opencode/**", AGENT},
	{"**/opencode.json", AGENT},
	{"**/opencode.jsonc", AGENT},
	{"**/.opencode.json", AGENT},
	{"**/.config/opencode/**", AGENT},
	{"**/.aider.conf.yml", AGENT},
	{"**/.aider.model.settings.yml", AGENT},
	{"**/.aider.tags.cache.*/**", PICKLE},
	{"**/.amp/settings.json", AGENT},
	{"**/.augment/settings.json", AGENT},
	{"**/.augment/settings.local.json", AGENT},
	{"**/.clinerules/hooks/**", AGENT},
	{"**/.copilot/mcp-config.json", AGENT},
	{"**/.config/goose/**", AGENT},
	{"**/.factory/**", AGENT},
	{"**/.github/hooks/**", AGENT},
	{"**/.openhands/hooks.json", AGENT},
	{"**/.openhands/pre-commit.sh", AGENT},
	{"**/.openhands/setup.sh", AGENT},
	{"**/.pi/extensions/**", AGENT},
	{"**/.vibe/**", AGENT},
	{"**/.grok/settings.json", AGENT},
	{"**/.letta/settings.json", AGENT},
	{"**/.letta/settings.local.json", AGENT},
	{"**/.codebuddy/settings.json", AGENT},
	{"**/.codebuddy/settings.local.json", AGENT},
	{"**/.codebuddy/agents/**", AGENT},
	{"**/.codebuddy/commands/**", AGENT},
	{"**/.iflow/settings.json", AGENT},
	{"**/.iflow/agents/**", AGENT},
	{"**/.iflow/commands/**", AGENT},
	{"**/.qoder/settings.json", AGENT},
	{"**/.qoder/settings.local.json", AGENT},
	{"**/.qoder/agents/**", AGENT},
	{"**/.qoder/commands/**", AGENT},
	{"**/.tabnine/mcp_servers.json", AGENT},
	{NULL, NULL},
};

static const char *find_reason(const struct mandatory *table, const char *pattern)
{
	for (; table->pattern; table++)
		if (strcmp(table->pattern, pattern) == 0)
			return table->reason;
	return NULL;
}

const char *mandatory_reason(const char *pattern)
{
	const char *reason = find_reason(mandatory_deny, pattern);

	return reason ? reason : find_reason(mandatory_protect, pattern);
}

static bool list_has(const struct pol_list *list, const char *s)
{
	uint32_t i;

	for (i = 0; i < list->n; i++)
		if (strcmp(list->v[i].s, s) == 0)
			return true;
	return false;
}

/* Behind what is there; a pattern that a file names too keeps that file as its origin. */
static int add_table(struct arena *a, struct pol_list *list, const struct mandatory *table, size_t n_table)
{
	struct pol_str *v = arena_array(a, list->n + n_table, sizeof(*v));
	uint32_t n = list->n;

	if (!v)
		return -1;
	if (n)
		memcpy(v, list->v, n * sizeof(*v));
	for (; table->pattern; table++)
		if (!list_has(list, table->pattern))
			v[n++] = (struct pol_str){.s = table->pattern};
	*list = (struct pol_list){.v = v, .n = n, .set = true};
	return 0;
}

int mandatory_add(struct policy *p)
{
	if (add_table(p->arena, &p->fs.deny, mandatory_deny, ARRAY_LEN(mandatory_deny)) < 0)
		return -1;
	return mandatory_set_protect(p);
}

int mandatory_set_protect(struct policy *p)
{
	p->fs.protect = (struct pol_list){0};
	return add_table(p->arena, &p->fs.protect, mandatory_protect, ARRAY_LEN(mandatory_protect));
}

bool mandatory_is_protect(const struct pol_list *protect)
{
	uint32_t i;

	if (!protect->set || protect->n != ARRAY_LEN(mandatory_protect) - 1)
		return false;
	for (i = 0; i < protect->n; i++)
		if (protect->v[i].at.file || protect->v[i].at.line || protect->v[i].at.column ||
		    strcmp(protect->v[i].s, mandatory_protect[i].pattern) != 0)
			return false;
	return true;
}
