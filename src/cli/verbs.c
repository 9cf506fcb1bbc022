/*
 * The table of verbs. A row stands here only when its code exists; its options are in the verb's own file.
 * Order: the most used first, since a lookup walks it and help prints it as it is.
 */
#include "cli/cli.h"
#include "cli/cli_help.h"
#include "cli/verb_audit.h"
#include "cli/verb_completion.h"
#include "cli/verb_doctor.h"
#include "cli/verb_env.h"
#include "cli/verb_image.h"
#include "cli/verb_image_build.h"
#include "cli/verb_policy.h"
#include "cli/verb_changes.h"
#include "cli/verb_rm.h"
#include "cli/verb_run.h"
#include "cli/verb_runs.h"
#include "cli/verb_task.h"
#include "cli/verb_task_compose.h"
#include "cli/verb_task_past.h"
#include "cli/verb_task_run.h"
#include "cli/verb_why.h"

const struct verb verbs[] = {
	{
		.name = "run",
		.args = "-- CMD [ARG...]",
		.complete = "command",
		.summary = "Run a command in a sandbox.",
		.details =
			"CMD sees the base system read-only, an empty home, private /tmp, /proc and /dev, the work "
			"folder as the policy says, and nothing else of this machine. It "
			"has no network, no variable, file descriptor or capability that the policy did not name, and "
			"it ends with this command.\n\n"
			"Standard input, output and error, the terminal, signals and the exit status are passed "
			"through: all signals, real-time ones too, but for those that no process can pass on (SIGKILL, "
			"SIGSTOP) or "
			"that are about cordon's own process (its children, pipes, terminal, faults and limits: "
			"SIGCHLD, SIGPIPE, SIGTTIN, SIGTTOU, SIGABRT, SIGSEGV and the like). Cordon's own failures "
			"exit 125; 126 when CMD cannot be "
			"executed, 127 when it is not found, 124 when process.timeout ended it.\n\n"
			"Without --policy and --profile the profile default holds: the current folder can be read and "
			"written. Words behind -- are CMD's; without it, CMD starts "
			"with the first word that is no option.\n\n"
			"Where it runs is the policy's word (process.runtime), or --runtime's, or that of the "
			"category: code_execution and terminal run in gVisor, the others native, unless "
			"process.categories "
			"says otherwise. A runtime is tried once per boot, by a container of its own. Where it is "
			"missing or does not work, process.fallback decides, and a fallback is said on standard error "
			"and in the log; without one the run is refused. `cordon policy parity` shows what differs "
			"between runtimes.\n\n"
			"With --image the root is an image of the store (`cordon image import`): CMD is its user, with "
			"its variables and in its folder, and nothing of this machine is shown, not the current folder "
			"either. What it "
			"changes goes with the run. The image's entrypoint is not run.\n\n"
			"    cordon run -- make test\n"
			"    cordon run --profile strict -- python3 script.py\n"
			"    cordon run --policy policy.yaml --dry-run -- ./agent",
		.options = verb_run_options,
		.dashdash = true,
		.needs_command = true,
		.run = verb_run,
	},
	{
		.name = "exec",
		.args = "ID -- CMD [ARG...]",
		.complete = "running",
		.summary = "Run a further command in a sandbox that is running.",
		.details = "ID is what `cordon ps` lists. The command gets the same environment, limits and rules as "
			   "the first one, and ends when the sandbox ends: with its first command, or, where it is "
			   "kept (run --keep), when it is stopped. Terminal, signals and exit status are "
			   "passed through.",
		.min_args = 1,
		.max_args = 1,
		.dashdash = true,
		.needs_command = true,
		.run = verb_exec,
	},
	{
		.name = "ps",
		.summary = "List your runs that are going on; with --all those that have ended, too.",
		.details = "One line each: its id, which the other commands take; running, exited with its status, or "
			   "killed; when it started; its runtime; policy or profile; its kind; whether it left changes "
			   "that were not applied; and its command.\n\n"
			   "Kinds: run ends with its command; kept and `for NAME` stay for further ones (run --keep, "
			   "--owner), and show since when nothing runs in them and the command that was started last; "
			   "warm is prepared (run --warm).",
		.options = verb_ps_options,
		.run = verb_ps,
	},
	{
		.name = "stop",
		.args = "(ID... | --all)",
		.complete = "running",
		.summary = "Stop runs: SIGTERM, and after some seconds SIGKILL.",
		.details = "Comes back when they have ended and their logs are complete. One that cannot be stopped "
			   "does not keep the others from it.",
		.options = verb_stop_options,
		.max_args = -1,
		.run = verb_stop,
	},
	{
		.name = "logs",
		.args = "ID",
		.complete = "run",
		.summary = "Show the events of a run: its start, what was denied, limits, its end.",
		.details = "One line an event: time, domain, verdict, what happened, and the rule that decided. Works "
			   "while the run goes on and afterwards. --json prints the audit log itself, "
			   "with every field. What the command writes goes where you sent it and is not kept.",
		.options = verb_logs_options,
		.min_args = 1,
		.max_args = 1,
		.run = verb_logs,
	},
	{
		.name = "rm",
		.args = "(ID... | --finished)",
		.complete = "run",
		.summary = "Remove runs that have ended, with their logs and changes.",
		.details = "A run that is going on is never removed. --finished leaves runs with changes that were not "
			   "applied, and says so; named by its id, such a run is removed with its changes. An apply of "
			   "the run that was interrupted is undone first; where that cannot be done, say because its "
			   "journal is damaged, --force removes the run all the same. "
			   "Cordon itself keeps the newest 200 finished runs, and all that hold changes.",
		.options = verb_rm_options,
		.max_args = -1,
		.run = verb_rm,
	},
	{
		.name = "diff",
		.args = "ID",
		.complete = "run",
		.summary = "Show what a run changed in its copy of the work folder.",
		.details = "For runs with filesystem.workdir: copy, as the profile strict has it. Prints a unified "
			   "diff to standard output and the list of changes, with what apply would refuse, "
			   "to standard error; --list prints only the list.\n\n"
			   "What a run of an ordinary user left without its owner's right to read it (mode 0000) is "
			   "kept, listed and applied with that right and no other: nobody could look at it else.",
		.options = verb_diff_options,
		.min_args = 1,
		.max_args = 1,
		.run = verb_diff,
	},
	{
		.name = "apply",
		.args = "ID",
		.complete = "run",
		.summary = "Bring the changes of a run into the work folder, all or nothing.",
		.details = "Refused are paths that the policy denies or protects, links that lead out of the work "
			   "folder, setuid bits, device nodes, and files that changed on the host since. "
			   "Other users get no right to a folder that they did not have before, whatever its mode in "
			   "the copy is. "
			   "As root, what belongs to somebody else than the work folder, or to another group, is left "
			   "alone, and so is every name in a folder that does. What comes back has the modification "
			   "time that it had in the copy, or the present one where that is yet to come. "
			   "If anything is refused, nothing is applied, unless --skip-refused. Exits 0 when it was "
			   "applied, with --skip-refused also when some of it was left; 125 when it was refused or "
			   "failed.",
		.options = verb_apply_options,
		.min_args = 1,
		.max_args = 1,
		.run = verb_apply,
	},
	{
		.name = "task check",
		.args = "DIR",
		.complete = "dir",
		.summary = "Say whether a benchmark task is safe and complete, without running anything of it.",
		.details =
			"DIR is a task's folder: Harbor's (task.toml), BenchFlow's (task.md) or Terminal-Bench 1's "
			"(task.yaml). Prints everything that is refused, each with file, line and key, and warnings. "
			"Exits 0 when the task is accepted, 1 when it is refused.\n\n"
			"The folder is copied first, and only the copy is looked at. Refused are files that lead out "
			"of it (links, devices, names with control characters), keys that are not known, what is known "
			"and cannot be honoured (GPUs, other systems than Linux, judges that are models), hooks that "
			"other runners execute on the host, and ${NAME} in env tables that nobody granted: a task "
			"never "
			"sees the environment of this machine. A verifier gets what credentials.yaml grants it "
			"(verifier_env).\n\n"
			"    cordon task check tasks/hello-world\n"
			"    cordon task check --json tasks/hello-world",
		.options = verb_task_check_options,
		.min_args = 1,
		.max_args = 1,
		.run = verb_task_check,
	},
	{
		.name = "task run",
		.args = "DIR [-- CMD [ARG...]]",
		.complete = "dir",
		.summary = "Run a benchmark task, and judge what came of it.",
		.details = "The folder is copied and checked as `task check` does it. Its image is found or built, the "
			   "agent works in a sandbox made of it, and when the agent and all that it started are gone, "
			   "the task's tests run in a fresh "
			   "sandbox: the pristine image, and of the agent's changes what is data. Tests and solution "
			   "are absent while the agent works.\n\n"
			   "What the tests write for themselves is theirs. So of what the agent leaves in /tmp and "
			   "/var/tmp only what the instruction names is there for them: a path, what is below a folder "
			   "that it names, or a declared artifact "
			   "(carry.scratch counts the rest). Nor is what stands where the tests' files say that they "
			   "write, or is a folder called as one of their files (carry.written), unless the instruction "
			   "names it; a link that leads to nothing they have "
			   "(carry.link-nowhere); or one by which they could write to what they judge: it is a copy of "
			   "its file (carry.link-copied), or not there if it leads to a folder (carry.link-tests). "
			   "Where the tests then leave no reward, they judge the image "
			   "without the agent's changes, as who did nothing would be (carry.unusable).\n\n"
			   "The agent has the network that the task asks for, as far as the operator's policy gives "
			   "it, and models as the operator's policy names them: one does not depend on the other. The "
			   "verifier has no network unless the "
			   "task says so. Where no --policy or --profile is given, the profile task holds; the "
			   "operator's policy.yaml bounds all.\n\n"
			   "CMD behind -- is the agent: it finds the instruction on its standard input and in the file "
			   "that CORDON_INSTRUCTION names. However it ends, its work is judged, also when its time is "
			   "up.\n\n"
			   "What a sandbox left comes into the results as plain files, without what programs of yours "
			   "would take orders from when they see it (protected names, .git, repositories); a finding "
			   "names what was left out. Holes stay holes: "
			   "a file may say a larger size than storage_mb has room for, and takes as much room as was "
			   "written to it; copy it with tools that keep holes (cp, tar -S, rsync -S).\n\n"
			   "Exits 0 when the task was scored, whatever the reward; 1 when it is refused; 125 "
			   "otherwise. On SIGINT, SIGTERM or SIGHUP it cleans up, writes a result, and dies of that "
			   "signal (130, 143 or 129 in a shell).\n\n"
			   "    cordon task run tasks/hello --agent oracle\n"
			   "    cordon task run tasks/hello --policy models.yaml -- my-agent --model small",
		.options = verb_task_run_options,
		.min_args = 1,
		.max_args = 1,
		.dashdash = true,
		.run = verb_task_run,
	},
	{
		.name = "task ls",
		.summary = "List the results of tasks that are kept.",
		.details = "One line each, the newest first: its id, when it was started, what came of it, the reward "
			   "where it was scored, the agent, the task, and the folder with all that was kept of it. "
			   "Results are kept where `task run` got no --out, "
			   "below $XDG_STATE_HOME/cordon/tasks. One that was killed has no result.",
		.options = verb_task_ls_options,
		.run = verb_task_ls,
	},
	{
		.name = "task show",
		.args = "ID",
		.complete = "result",
		.summary =
			"Show the result of a task that was run: what came of it, why, and how long each phase took.",
		.details = "ID is what `cordon task ls` lists. The folder that it names has the rest: report.html, "
			   "output/, the agent's trajectory, workspace.diff, audit/.",
		.options = verb_task_show_options,
		.min_args = 1,
		.max_args = 1,
		.run = verb_task_show,
	},
	{
		.name = "task rm",
		.args = "(ID... | --finished | --older-than TIME)",
		.complete = "result",
		.summary = "Remove results of tasks, with all that was kept of them.",
		.details = "One that is running is never removed. Links in what tasks left are removed, and never "
			   "followed. Cordon itself removes none.\n\n"
			   "    cordon task rm --older-than 30d",
		.options = verb_task_rm_options,
		.max_args = -1,
		.run = verb_task_rm,
	},
	{
		.name = "task compose",
		.args = "DIR",
		.complete = "dir",
		.summary = "Print the Compose file that a benchmark task would be run with.",
		.details = "The folder is copied and checked as `task check` does it; one that is refused has its "
			   "problems printed, and the exit status is 1. What is printed is a new file, in JSON, made "
			   "of what Cordon understood and of nothing else: it is "
			   "what `task up` gives to Docker's tools, byte for byte, with the same --name. Variables are "
			   "filled in, and none of them is this machine's. Every service has its image by name, few "
			   "capabilities, limits and no network; "
			   "tests and solution are in no bind. A task without a Compose file has one service, main.\n\n"
			   "No Docker is needed, and nothing is run.\n\n"
			   "    cordon task compose tasks/hello | python3 -m json.tool",
		.options = verb_task_compose_options,
		.min_args = 1,
		.max_args = 1,
		.run = verb_task_compose,
	},
	{
		.name = "task up",
		.args = "DIR",
		.complete = "dir",
		.summary = "Start a benchmark task's services at your own Docker Engine, to look at them.",
		.details = "The task is copied and checked as `task check` does it. Its images are built by the "
			   "engine, of a Dockerfile that Cordon wrote anew and of the files that it copies, or are "
			   "those that the engine has; nothing is pulled, and RUN has no "
			   "network without --build-network. `docker compose` or `docker-compose` gets the file that "
			   "`task compose` prints, with PATH, HOME and DOCKER_HOST for its environment and nothing "
			   "else. No service has a network, nor sees tests or "
			   "solution.\n\n"
			   "The containers are Docker's: the policies of `cordon run` do not hold in them, but for "
			   "memory, cpus and max_processes. It is refused where the operator's policy.yaml names "
			   "another runtime than docker. `cordon task run` is for strangers' agents; this is for you. "
			   "Prints how to get a shell, and how to end it: "
			   "`cordon task down NAME`.\n\n"
			   "All that belongs to it lies in $XDG_STATE_HOME/cordon/compose/NAME, and has the project's "
			   "name cordon-UID-NAME at the engine.\n\n"
			   "    cordon task up examples/tasks/hello",
		.options = verb_task_up_options,
		.min_args = 1,
		.max_args = 1,
		.run = verb_task_up,
	},
	{
		.name = "task down",
		.args = "[NAME...]",
		.complete = "up",
		.summary = "End what `task up` started, and remove all of it.",
		.details = "Containers, networks, volumes and built images go, at the engine where they were started, "
			   "and the folder, in which links are never followed. Docker's Compose need not be there any "
			   "more. Where the engine does not answer, it is said what "
			   "is left, the folder stays, and the same command finishes it later. Also for what a `task "
			   "up` that was killed left. Without NAME, lists what there is.",
		.max_args = -1,
		.run = verb_task_down,
	},
	{
		.name = "why",
		.args = "(--host HOST[:PORT] | --path PATH | --exec PROGRAM | --model NAME)",
		.summary = "Say whether a policy allows one thing, by which rule, and what to change.",
		.details = "Answers for the effective policy: the named policies and profiles (or the profile "
			   "default), under the operator's ceiling. Exits 0 when it is "
			   "allowed, 1 when it is denied.\n\n"
			   "A path or program is answered for as a run that is started here would have it: the plan of "
			   "that run is made, with all that it finds on this machine (links, other names of a denied "
			   "file, sockets, what git is told to look at), and the "
			   "path is followed through it. Paths of the host that are not shown do not exist inside: "
			   "reading them is denied. /tmp and the home folder are the sandbox's own and empty: what "
			   "they hold on this machine cannot be read, and what is written there "
			   "never comes back. Beyond that, modes and owners of files hold as they do outside. Where no "
			   "run would start, the answer is no, with the reason.\n\n"
			   "~ and ~/... mean the home folder, as in a policy, be it that the shell left them alone; "
			   "other relative paths are below the current folder.\n\n"
			   "    cordon why --host pypi.org:443 --method POST --policy policy.yaml\n"
			   "    cordon why --path ~/.ssh/id_ed25519\n"
			   "    cordon why --path .git/hooks/pre-commit --write",
		.options = verb_why_options,
		.run = verb_why,
	},
	{
		.name = "env",
		.summary = "Show which environment variables go into a sandbox, which stay out, and why.",
		.details = "Values are shown only where they come from Cordon or from the policy, never those of the "
			   "host.",
		.options = verb_env_options,
		.run = verb_env,
	},
	{
		.name = "image import",
		.args = "NAME PATH|-",
		.complete = "file",
		.summary = "Bring an image into Cordon's store, from an archive or a folder.",
		.details =
			"PATH is a root folder, a tar archive of one, what `docker save` writes, or an OCI layout as a "
			"folder or archive; archives may be compressed with gzip, bzip2, xz or zstd, and - is standard "
			"input. NAME is what a Dockerfile's FROM would say. Where an archive has several images, the "
			"one of that name is taken.\n\n"
			"Archives are decompressed and unpacked by programs that can do nothing else, and every digest "
			"is checked. Refused are entries that lead out of the image, go through links, or are more "
			"than an image may "
			"have; device nodes and attributes other than user's own are left out, and counted. No "
			"registry is asked, and no Docker is needed.\n\n"
			"    docker save debian:12 | cordon image import debian:12 -\n"
			"    debootstrap --variant=minbase bookworm root\n"
			"    cordon image import debian:12 root\n\n"
			"Prints the image's digest. As root, files of an image belong to host ids that nobody else "
			"has; for an ordinary user, to those of /etc/subuid and /etc/subgid, or all to that user where "
			"there are none.",
		.options = verb_image_import_options,
		.min_args = 2,
		.max_args = 2,
		.run = verb_image_import,
	},
	{
		.name = "image build",
		.args = "NAME DIR",
		.complete = "dir",
		.summary = "Build an image from a folder with a Dockerfile, without Docker.",
		.details = "DIR is copied and checked as a task's folder is, its Dockerfile read as BuildKit reads it; "
			   "what would reach outside (frontends, remote ADD, sources above DIR, secrets, privileges) "
			   "is refused with its line. Each RUN is a sandbox of "
			   "its own: with what --policy or --profile give, or the profile task, and with what the "
			   "operator's policy.yaml says under phases.build; never with private addresses, and with "
			   "nothing of this machine. Layers are found again where nothing "
			   "that goes into them has changed, by builds of tasks, too.\n\n"
			   "FROM is an image of the store, or of the Docker Engine that you have; no registry is "
			   "asked. NAME is what FROM lines of others will say. Prints the image's digest; where a RUN "
			   "fails, the last lines that it printed.\n\n"
			   "    cordon image build tools/python:3.12 images/python",
		.options = verb_image_build_options,
		.min_args = 2,
		.max_args = 2,
		.run = verb_image_build,
	},
	{
		.name = "image ls",
		.summary = "List the images in Cordon's store.",
		.details = "One line a name, in their order: the image's digest, its layers, when it was added, and "
			   "the bytes in its files. Images without a name, shown as -, were built for tasks: `image "
			   "rm` takes their digests, and the next run of the task builds what is missing.",
		.options = verb_image_ls_options,
		.run = verb_image_ls,
	},
	{
		.name = "image rm",
		.args = "NAME...",
		.summary = "Remove images, and the layers that no other image has.",
		.details = "A name, or the image's digest or its first 12 digits or more, which removes it under all "
			   "its names. Layers that a sandbox uses right now stay until the next removal.",
		.min_args = 1,
		.max_args = -1,
		.run = verb_image_rm,
	},
	{
		.name = "image prune",
		.summary = "Remove layers that no image has: what builds left for the next one to find.",
		.details = "Prints each layer and its size. Images stay, with and without a name. Layers that a "
			   "sandbox or a build uses right now stay, too, so it can be run at any time; what it removes "
			   "is made again where a build needs it.",
		.options = verb_image_prune_options,
		.run = verb_image_prune,
	},
	{
		.name = "image inspect",
		.args = "NAME",
		.summary = "Show what an image consists of, and what it says of commands in it.",
		.details = "A name, or the image's digest or its first 12 digits or more.",
		.options = verb_image_inspect_options,
		.min_args = 1,
		.max_args = 1,
		.run = verb_image_inspect,
	},
	{
		.name = "policy check",
		.args = "[FILE]",
		.complete = "file",
		.summary = "Check a policy file, or a profile, and run its own tests.",
		.details =
			"Prints FILE: ok, or `valid, but would be refused here`, or what is wrong with file, line and "
			"column. The file is judged alone, without the operator's ceiling. A name without / and . "
			"is a profile, as with --profile.\n\n"
			"What is valid, but would be refused by `cordon run` here (a runtime that is missing, user 0, "
			"a folder that cannot be shown), is a warning on standard error; with --json, runs_here is "
			"false.\n\n"
			"Exits 0 when the policy is valid, whether it would run here or not, 1 when a test of the "
			"policy fails, 125 when the file is wrong.",
		.options = verb_policy_own_options,
		.max_args = 1,
		.run = verb_policy_check,
	},
	{
		.name = "policy show",
		.args = "[FILE]",
		.complete = "file",
		.summary = "Print the effective policy, with the file and line that each value comes from.",
		.details = "What remains of the named policies and profiles when `extends`, the operator's ceiling, "
			   "defaults and the mandatory protections have been applied. "
			   "The output is a policy file itself. A user id that no file sets is the one that your run "
			   "would have.",
		.options = verb_policy_effective_options,
		.max_args = 1,
		.run = verb_policy_show,
	},
	{
		.name = "policy explain",
		.args = "[FILE]",
		.complete = "file",
		.summary = "Say in plain sentences what the effective policy allows.",
		.details = "Without FILE, --policy and --profile, the profile default. All protected files are listed, "
			   "with the reason for each group. With --runtime or --category also what is different there.",
		.options = verb_policy_effective_options,
		.max_args = 1,
		.run = verb_policy_explain,
	},
	{
		.name = "policy parity",
		.summary = "Show what each key of a policy means on each runtime.",
		.details =
			"For each key and runtime: enforced, enforced by other means (and how), or refused: a policy "
			"that asks for it does not run there. No key is passed over. Behind the keys stands what else "
			"differs. `cordon policy explain --runtime RUNTIME` says it for one policy.",
		.options = verb_policy_parity_options,
		.run = verb_policy_parity,
	},
	{
		.name = "policy test",
		.args = "[FILE]",
		.complete = "file",
		.summary = "Run the tests that a policy carries, and name the rule behind each answer.",
		.details = "An expectation is a line such as\n\n"
			   "    tests:\n"
			   "      - allow: {host: pypi.org, method: GET, path: /simple/x}\n"
			   "      - deny: {write: ./.git/config}\n\n"
			   "about a host, read, write, exec or model. Relative paths are below the work folder. Tests "
			   "of shipped profiles hold for the profile itself, not for what "
			   "extends it. Exits 1 when one fails.",
		.options = verb_policy_own_options,
		.max_args = 1,
		.run = verb_policy_test,
	},
	{
		.name = "policy diff",
		.args = "A B",
		.complete = "file",
		.summary = "Show what policy B allows that A does not, and the other way round.",
		.details = "Compares what the policies mean, not how they are written. Exits 0 when B allows nothing "
			   "that A does not, 1 when it does. Where patterns overlap only in "
			   "part, the difference is shown: exit 0 can be relied on, whichever folder is the work "
			   "folder, but for this: that a folder of filesystem.read stays read-only where it is inside "
			   "of a work folder is only said with --workdir, for that one.",
		.options = verb_policy_diff_options,
		.min_args = 2,
		.max_args = 2,
		.run = verb_policy_diff,
	},
	{
		.name = "policy import",
		.args = "FILE",
		.complete = "file",
		.summary = "Turn another sandbox's settings into a policy.",
		.details = "Reads SynthOrg's DockerSandboxConfig, NVIDIA OpenShell's policy and the settings of "
			   "Anthropic's sandbox-runtime (- is standard input). The policy goes to "
			   "standard output; what could not be carried over, and what means something else here, is "
			   "listed in its first comment and on standard error. A denial that cannot be carried over "
			   "closes all that it may have been about. Exits 0, 1 when "
			   "something could not be carried over, 125 when the file cannot be read.",
		.options = verb_policy_import_options,
		.min_args = 1,
		.max_args = 1,
		.run = verb_policy_import,
	},
	{
		.name = "policy push",
		.args = "ID FILE",
		.complete = "file",
		.summary = "Give a running sandbox another policy.",
		.details = "FILE takes the place of the policies that the run was started with, under the operator's "
			   "ceiling. Network and inference change at once; tunnels that the new "
			   "policy forbids are closed. What it says about filesystem and process waits for a restart, "
			   "and so do the base URLs of providers that the run was not started with. A file that is "
			   "wrong changes nothing. "
			   "A run that was started without network and inference has no gateway, and none is made "
			   "later: a push is refused, with 125, and logged.\n\n"
			   "A policy file that was given to run with --policy need not be pushed: saving it is enough, "
			   "and so is SIGHUP to the supervisor. Both put the files that the run was started with in "
			   "force again, also after a push. (Without a gateway a saved file waits for the next run, "
			   "and SIGHUP is the command's; so it is where a shell sends it to its jobs because it ends.) "
			   "A sandbox that is prepared (run --warm) takes no other policy before a run has it.",
		.min_args = 2,
		.max_args = 2,
		.run = verb_policy_push,
	},
	{
		.name = "audit verify",
		.args = "FILE",
		.complete = "file",
		.summary = "Check that a run's audit log is whole and unchanged.",
		.details =
			"FILE may also be the id of a run. Finds the first line that was changed, dropped, added, "
			"duplicated or reordered. Exits 0 when the log is good, 1 when a line is bad or "
			"no exit event ends the log, 125 when it cannot be read.\n\n"
			"A FILE to which several runs appended their events, one after the other (run --json-events), "
			"has a chain for each, and all are checked; how many runs there are is said. That a whole one "
			"was taken out of it cannot be seen: a run's own log, by its id, has that run alone.",
		.options = verb_audit_verify_options,
		.min_args = 1,
		.max_args = 1,
		.run = verb_audit_verify,
	},
	{
		.name = "audit show",
		.args = "FILE",
		.complete = "file",
		.summary = "Print a run's audit log, one event a line.",
		.details = "FILE may also be the id of a run. One line an event: time, domain, verdict, what happened, "
			   "and the rule that decided. Shows the lines that are good, and exits 1 where a "
			   "bad one follows.\n\n"
			   "What only Landlock denies is there, with its own word for it (scope.signal, fs.read_file), "
			   "where the kernel's audit is on and cordon may read it: `cordon doctor` tells. "
			   "The first line of a log (--json) has isolation.landlock_logged.",
		.options = verb_audit_show_options,
		.min_args = 1,
		.max_args = 1,
		.run = verb_audit_show,
	},
	{
		.name = "doctor",
		.summary = "Show what this machine can do for sandboxes, and how to get the rest.",
		.details = "Tries every kernel feature, limit and tool that matters, changes nothing, and says what "
			   "each means. Exits 0 when `cordon run` can work "
			   "here, 1 when something that it needs is missing.\n\n"
			   "With --runtime a container of that runtime is started as a run would start it, and each "
			   "step is shown; exits 0 when all of them went well.",
		.options = verb_doctor_options,
		.run = verb_doctor,
	},
	{
		.name = "help",
		.args = "[COMMAND...]",
		.complete = "verb",
		.summary = "Show help for a command.",
		.max_args = 2,
		.run = verb_help,
	},
	{
		.name = "completion",
		.args = "bash|zsh|fish",
		.complete = "bash|zsh|fish",
		.summary = "Print a completion script for a shell.",
		.details = "For bash, put this into ~/.bashrc:\n\n"
			   "    source <(cordon completion bash)\n\n"
			   "For zsh, into ~/.zshrc, below compinit:\n\n"
			   "    source <(cordon completion zsh)\n\n"
			   "For fish:\n\n"
			   "    cordon completion fish > ~/.config/fish/completions/cordon.fish",
		.min_args = 1,
		.max_args = 1,
		.run = verb_completion,
	},
	{
		.name = "man",
		.args = "[COMMAND...]",
		.complete = "verb",
		.summary = "Print a man page in roff.",
		.options = verb_man_options,
		.max_args = 2,
		.run = verb_man,
		.hidden = true,
	},
	{0},
};
