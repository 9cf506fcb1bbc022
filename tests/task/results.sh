#!/bin/bash
# What an agent, its artifacts and the tests leave comes into the folder of results, but for what would give orders to whoever looks at it there: a prompt, an editor, git.
# shellcheck disable=SC2154 # lib.sh's and run_lib.sh's
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"
. "$tests_dir/task_lib.sh"

export XDG_DATA_HOME=$tmp/data
task_images base || { echo "Bail out! the image cannot be made"; exit 99; }

# task NAME LINE...: a task whose first lines are these
task()
{
	task=$tmp/$1
	shift
	mkdir -p "$task/environment" "$task/tests"
	{ echo 'version = "1.0"'; printf '%s\n' "$@" '[environment]' 'allow_internet = false'; } >"$task/task.toml"
	echo "Do something." >"$task/instruction.md"
	printf 'FROM cordon-test/base\nWORKDIR /app\n' >"$task/environment/Dockerfile"
	printf '#!/bin/sh\n. /tests/lib.sh\nrepository /logs/verifier/bare\necho 1 >/logs/verifier/reward.txt; echo x >/logs/verifier/.envrc; echo "{}" >/logs/verifier/report.json\n' >"$task/tests/test.sh"
	printf '%s\n' "$making" >"$task/tests/lib.sh"
}

# run SCRIPT: what an agent does; out is the folder of results
run()
{
	out=$tmp/results/$((++runs))
	said=$(timeout 120 "$CORDON" task run "$task" --out "$out" -- sh -c "$making
$1" 2>"$tmp/noted")
	status=$?
}

# found: the names that findings say were left out, in order
found()
{
	python3 -c 'import json,sys; print(*sorted(f["path"] for f in json.load(open(sys.argv[1]))["findings"] if f["rule"] == "not-collected"))' "$out/result.json"
}

# repositories: the folders of the results that git takes for one; without git, those that have its parts
repositories()
{
	local folder
	while read -r folder; do
		if command -v git >/dev/null; then
			(cd "$folder" && GIT_CEILING_DIRECTORIES=$tmp/results git rev-parse --git-dir >/dev/null 2>&1) && echo "$folder"
		else
			[ -e "$folder/HEAD" ] && [ -e "$folder/refs" ] && [ -e "$folder/objects" ] && echo "$folder"
		fi
	done < <(find "$out" -type d)
	find "$out" -iname .git
}

# what an agent has to make a repository without git, whose config would run a program
making='repository() { mkdir -p "$1/objects" "$1/refs"; echo "ref: refs/heads/main" >"$1/HEAD"; printf "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch /tmp/ran\n" >"$1/config"; echo ordinary >"$1/../log.txt"; }'

task plain
run 'repository /logs/agent/.git; repository /logs/agent/a/b/c/.GIT; repository /logs/agent/deep/bare; mkdir -p /logs/agent/file; echo "gitdir: ../deep/bare" >/logs/agent/file/.git; echo "run" >/logs/agent/.envrc; mkdir /logs/agent/.vscode; echo "{}" >/logs/agent/.vscode/tasks.json; echo code >/logs/agent/main.c'
is "what an agent left is collected" "$said $(cat "$out/agent/log.txt" "$out/agent/main.c" "$out/agent/a/b/c/log.txt" "$out/agent/deep/log.txt" 2>&1 | tr '\n' ' ')" "plain: reward 1 ordinary code ordinary ordinary "
is "... and nothing that git takes for a repository" "$(repositories)" ""
is "... nor what shells and editors run" "$(find "$out/agent" -name .envrc -o -name .vscode)" ""
is "what was left out is named, of the agent's and of the tests'" "$(found)" "agent/.envrc agent/.git agent/.vscode agent/a/b/c/.GIT agent/deep/bare agent/file/.git verifier/.envrc verifier/bare"
like "... and why" "$(cat "$out/result.json")" 'was left out of the results: direnv runs it'
ok "what the tests left is collected" test -e "$out/verifier/report.json" -a -e "$out/verifier/log.txt"

run 'repository /logs/agent'
is "a folder that is a repository as a whole is left out as a whole" "$said $(found) $(ls -A "$out/agent")" "plain: reward 1 agent verifier/.envrc verifier/bare "

task pieces 'artifacts = [{source = "/one", destination = "x"}, {source = "/two", destination = "x/refs"}, {source = "/logs/agent/objects", destination = "y/objects"}, {source = "/one/HEAD", destination = "y/HEAD"}, {source = "/two", destination = "y/refs/heads"}, {source = "/one/HEAD", destination = ".git/HEAD"}, {source = "/one/HEAD", destination = "z/.envrc"}]'
run 'repository /one; rm -rf /one/refs; mkdir -p /two /logs/agent/objects /logs/artifacts/w/objects /logs/artifacts/x/Refs; echo t >/two/t; echo o >/logs/agent/objects/o; echo r >/logs/artifacts/x/Refs/r; echo t >/logs/artifacts/ok'
is "pieces of several collections make no repository together" "$said $(repositories)" "pieces: reward 1 "
is "... what would be its last is left out" "$(found)" "artifacts/.git artifacts/x/Refs artifacts/x/refs artifacts/y/refs artifacts/z/.envrc verifier/.envrc verifier/bare"
ok "... and what is none comes" test -e "$out/artifacts/x/HEAD" -a -e "$out/artifacts/y/objects/o" -a -e "$out/artifacts/ok"

task many
run 'mkdir -p /logs/agent; i=0; while [ $i -lt 80 ]; do echo >/logs/agent/$i.code-workspace; i=$((i + 1)); done; repository /logs/artifacts/.git'
is "names are listed up to a bound, and counted beyond" "$said $(found | wc -w) $(grep -o '[0-9]* more names were left out' "$out/result.json")" "many: reward 1 50 33 more names were left out"
finish
