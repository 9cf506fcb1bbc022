#!/bin/bash
# doctor: tells what works by trying it, leaves nothing behind, and believes nobody.
. "$(dirname "$0")/../lib.sh"
enosys=$CORDON_BUILD/tests/enosys
export XDG_STATE_HOME=$tmp/state
mkdir -p "$tmp/state" "$tmp/project"

status_of()
{
	"$@" >"$tmp/out" 2>"$tmp/err"
	echo $?
}

# field ID MEMBER < document
field()
{
	python3 -c 'import json,sys
d = json.load(sys.stdin)
print([c[sys.argv[2]] for c in d["checks"] if c["id"] == sys.argv[1]][0])' "$1" "$2"
}

well_formed()
{
	python3 -c 'import json,sys
d = json.load(open(sys.argv[1]))
assert d["version"] == 1 and isinstance(d["ok"], bool)
assert d["ok"] == (sys.argv[2] == "0"), "exit status and ok differ"
ids = [c["id"] for c in d["checks"]]
assert len(ids) == len(set(ids)) and len(ids) > 30
for c in d["checks"]:
    assert c["status"] in ("ok", "warn", "missing"), c
    assert c["name"] and c["value"] and c["meaning"], c
    if c["status"] != "ok": assert c["fix"], c
assert d["ok"] == (not [c for c in d["checks"] if c["needed"] and c["status"] == "missing"])' "$@"
}

# without those of other suites, whose engines come and go
mounts()
{
	awk -v ours="$tmp" 'index($0, ours) || !/\/cordon-(test|escape|matrix)\./' /proc/self/mountinfo
}
before=$(mounts)
cgroups()
{
	find /sys/fs/cgroup -name 'cordon-probe-*' 2>/dev/null
}
rc=$(status_of "$CORDON" doctor --json)
ok "--json is one document, every check complete, in accord with the exit status" well_formed "$tmp/out" "$rc"
is "nothing is said on stderr" "$(cat "$tmp/err")" ""
is "no mount is left" "$(mounts)" "$before"
is "no file is left" "$(find "$tmp/state" -mindepth 1)" ""
is "no cgroup is left" "$(cgroups)" ""
is "the table exits as the document does" "$(status_of "$CORDON" doctor)" "$rc"
like "and has a row for what matters most" "$(cat "$tmp/out")" 'user namespaces '
ok "no escape codes where stdout is no terminal" bash -c '! grep -q $'"'\\e'"' "$0"' "$tmp/out"

# lacks CALL ID STATUS EXIT
lacks()
{
	local rc
	rc=$(status_of "$enosys" "$1" -- "$CORDON" doctor --json)
	is "without $1: $2" "$(field "$2" status <"$tmp/out")" "$3"
	is "without $1: exit status" "$rc" "$4"
}

if [ "$rc" = 0 ]; then
	lacks clone3 clone3 warn 0
	lacks openat2 openat2 warn 0
	lacks close_range close_range warn 0
	lacks pidfd_open pidfd_open warn 0
	lacks memfd_create memfd warn 0
	lacks landlock_create_ruleset landlock warn 0
	lacks landlock_restrict_self landlock warn 0
	lacks open_tree open_tree missing 1
	lacks move_mount move_mount missing 1
	lacks mount_setattr mount_setattr missing 1
	lacks seccomp seccomp missing 1
	lacks seccomp seccomp.notify missing 1
	lacks mount ns.mount missing 1
	for call in mount_setattr open_tree move_mount; do
		for profile in default strict; do
			rc=$(cd "$tmp/project" && status_of "$enosys" $call -- "$CORDON" run --profile $profile -- true)
			is "without $call: a run ($profile) is refused, and says what is missing, once" "$rc $(grep -v ' no Landlock' "$tmp/err")" \
				"125 cordon: no sandbox can be made without $call, which this kernel lacks; \`cordon doctor\` says how to get it"
		done
	done
	like "what is missing is named" "$("$enosys" mount_setattr -- "$CORDON" doctor | tail -n 1)" '^cordon run cannot work here; it needs: mount_setattr'
else
	skip "missing system calls are found" "this machine lacks something already"
fi

# What is told of cgroups is what a run has: part of a CPU can be had from the cpu controller only.
half_a_cpu()
{
	local told=no had=no
	case $("$CORDON" doctor --json | field cgroup.delegated value) in *cpu*) told=yes ;; esac
	printf 'version: 1\nprocess: {cpus: 0.5}\n' >"$tmp/half.yaml"
	! (cd "$tmp/project" && "$CORDON" run --policy "$tmp/half.yaml" -- true) || had=yes
	echo "told: $told, had: $had"
	[ $told = $had ]
}

if [ "$rc" = 0 ]; then
	ok "the cpu controller is told where a run can have half a CPU, and only there" half_a_cpu
fi

if unshare -Ur true 2>/dev/null; then
	rc=$(status_of unshare -Ur "$CORDON" doctor --json)
	ok "works inside a user namespace" well_formed "$tmp/out" "$rc"
	rc=$(status_of unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces; "$0" doctor --json' "$CORDON")
	is "user.max_user_namespaces = 0 is found" "$rc $(field userns value <"$tmp/out")" "1 user.max_user_namespaces is 0"
	like "with the line that fixes it" "$(field userns fix <"$tmp/out")" 'sysctl -w user.max_user_namespaces='
	rc=$(status_of unshare -Urm sh -c 'mount -t tmpfs none /proc/fs && "$0" doctor --json' "$CORDON")
	is "a covered /proc, as in a container, is found" "$rc $(field proc status <"$tmp/out")" "1 missing"
else
	skip "works inside a user namespace" "no user namespaces"
	skip "what blocks user namespaces is found" "no user namespaces"
fi

mkdir "$tmp/bin"
cat >"$tmp/bin/runsc" <<'END'
#!/bin/sh
sleep 4321 &
sleep 4321
END
printf '#!/bin/sh\nprintf "v1\\033[2Jx\\nline two\\n"\n' >"$tmp/bin/crun"
printf '#!/bin/sh\nenv >%s/env\nwhile :; do echo flood; done\n' "$tmp" >"$tmp/bin/git"
printf '#!/bin/sh\nexit 3\n' >"$tmp/bin/runc"
chmod +x "$tmp"/bin/*
SECONDS=0
rc=$(SECRET_TOKEN=1 PATH=$tmp/bin:/usr/bin:/bin status_of timeout 60 "$CORDON" doctor --json)
ok "a tool that hangs costs two seconds" [ "$SECONDS" -lt 15 ]
ok "and the document is whole" well_formed "$tmp/out" "$rc"
like "the hanging tool is told" "$(field runsc value <"$tmp/out")" 'does not end within 2 s'
is "neither it nor what it started lives on" "$(pgrep -f '^sleep 4321$')" ""
is "a version is escaped and one line" "$(field crun value <"$tmp/out")" 'v1\x1b[2Jx'
is "a tool that fails is a warning" "$(field runc status <"$tmp/out")" warn
is "one that floods is cut" "$(field git value <"$tmp/out")" flood
ok "tools do not see the environment" bash -c '! grep -q SECRET_TOKEN "$0"' "$tmp/env"
is "a tool in the current folder is not run" "$(cd "$tmp/bin" && PATH=.:/nonexistent "$CORDON" doctor --json | field git value)" "not found"
finish
