#!/bin/bash
# run.sh [NAME|DOMAIN]...: runs every attack (or the named ones) without the sandbox and within. TAP; the last line is "N passed, N failed, N skipped".
#
# An attack passes when it succeeds outside (so it is real on this machine) and is refused inside. Where the machine cannot show it outside
# (no root, no such kernel feature) it counts as skipped, but it still fails if it succeeds inside.
#
#   CORDON        the program under test (default: ../../build/cordon)
#   CORDON_BUILD  its build folder; the attacks are in its tests/escape
#   RUN_AS        as root: the ordinary user who runs Cordon and the controls that need no root
#   CORDON_RUNTIME  the runtime to attack (default: native); what differs there is in known.txt under its name
#                   image: native, with the attacks as root of an image (tests/tools/image_run.c); CORDON_IMAGE_IDS=many: an ordinary user's with ranges of ids; CORDON_IMAGE_RUNTIME: on this one
#   CORDON_DOCKER   the engine's socket, for CORDON_RUNTIME=docker (default: one of the suite's own)
#   CORDON_WRAP   words of another launcher instead of `cordon run --profile strict --`, to compare
#   ESCAPE_KEEP   set: leave the fake host in place
#   ESCAPE_VERBOSE  set: say why each attack succeeded and was refused
#
# As root the suite runs in mount, pid, ipc, uts and network namespaces of its own: its "host" is not the machine, /etc/shadow is
# a fake, and nothing it starts outlives it.

set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${CORDON_BUILD:-$here/../../build}
marker='CORDON-FAKE-SECRET'
runtime=${CORDON_RUNTIME:-native}
root=0
[ "$(id -u)" = 0 ] && root=1
# shellcheck source=tests/runtime_lib.sh
. "$here/../runtime_lib.sh"
case ${ESCAPE_AREA:+inside}:$runtime in
inside:* | *:image | *:docker) ;; # of image and docker, enter() takes care
*) need_runtime "the attacks" "$0" "$@" ;;
esac

die()
{
	echo "Bail out! $*"
	exit 99
}

# ---- The fake host: once, before anything else, so that even PID 1 has the fake secrets in its environment.

# The area cannot be below a folder that the ordinary user may not enter.
enter()
{
	local area user=${RUN_AS:-$(id -un)} status
	area=$(mktemp -d "${TMPDIR:-/var/tmp}/cordon-escape.XXXXXX") || die "no temporary folder"
	chmod 755 "$area"
	trap 'chmod -R u+rwX "$area" 2>/dev/null; rm -rf "$area" "/tmp/${area##*/}" "/dev/shm/${area##*/}"' EXIT
	[ -z "${ESCAPE_KEEP:-}" ] || trap 'echo "# kept: $area"' EXIT
	local fake=(env -u XDG_CONFIG_HOME -u XDG_STATE_HOME -u XDG_CACHE_HOME -u XDG_DATA_HOME
		"ESCAPE_AREA=$area" "ESCAPE_USER=$user" "HOME=$area/home" "PATH=$area/userbin:/usr/sbin:$PATH" "XDG_RUNTIME_DIR=$area/run"
		"SSH_AUTH_SOCK=$area/run/agent.sock" "DBUS_SESSION_BUS_ADDRESS=unix:path=$area/run/bus" "DOCKER_HOST=unix://${CORDON_DOCKER:-$area/run/bus}"
		"AWS_SECRET_ACCESS_KEY=$marker-env" "GITHUB_TOKEN=$marker-token")
	local spaces=()
	[ $root = 0 ] || spaces=(unshare --mount --uts --ipc --net --pid --fork --kill-child --mount-proc --)
	# what looks into an engine's container, or mounts an image there, must see its processes
	local with=()
	case $runtime:${CORDON_IMAGE_RUNTIME:-} in
	docker:* | image:docker) [ -n "${CORDON_DOCKER:-}" ] || with=(sh -c 'exec "$0" "$@" 9</' "$here/../tools/with_engine.sh" "the attacks") ;; # 9: PID 1 is not this suite then (stage_fds)
	esac
	"${fake[@]}" "${spaces[@]}" "${with[@]}" bash "$here/run.sh" "$@"
	status=$?
	exit $status
}
[ -n "${ESCAPE_AREA:-}" ] || enter "$@"

area=$ESCAPE_AREA
user=$ESCAPE_USER
[ -z "${CORDON_DOCKER:-}" ] || export DOCKER_HOST="unix://$CORDON_DOCKER"
exec 9<&-
victim=
cd "$area" || die "$area is gone"
as_user=()
if [ $root = 1 ] && [ "$user" != root ]; then
	as_user=(setpriv "--reuid=$user" "--regid=$(id -g "$user")" --init-groups --)
fi

make_host()
{
	mkdir -p home/.ssh home/.config/cordon/profiles home/.local/state/cordon run userbin bin out
	echo "$marker-key" >home/.ssh/id_fake
	printf '# %s-profile\nversion: 1\n' "$marker" >home/.config/cordon/profiles/spare.yaml
	echo "$marker-state" >home/.local/state/cordon/spare
	echo "$marker-tmp" >"/tmp/${area##*/}"
	echo "$marker-shm" >"/dev/shm/${area##*/}"
	chmod 600 home/.ssh/id_fake
	chmod 700 home/.ssh home/.local/state/cordon run
	cp "$build/tests/escape/attack" "$build/tests/escape/victim" bin/ || die "$build/tests/escape has no attacks: build first"
	if [ -z "${CORDON_WRAP:-}" ]; then
		CORDON=${CORDON:-$build/cordon}
		[ -x "$CORDON" ] || die "there is no $CORDON: build first, or set CORDON"
		cp "$CORDON" bin/cordon
		[ ! -x "${CORDON%/*}/cordon-init" ] || cp "${CORDON%/*}/cordon-init" bin/
		[ "$runtime" != image ] || cp "$build/tests/image-run" bin/
	fi
}

# The layer has what the attacks look for in a base system, and the work folder under the name that it has on the host. It belongs to the ids that the image's sandbox has.
make_image()
{
	local layer=$area/image/layer owner
	rm -rf image
	mkdir -p "$layer"{/bin,/etc,/tmp,/usr/lib,/root,/proc,/dev,/sys,/var/tmp,"$area"} image/box/{upper,work}
	cp /bin/busybox "$layer/bin/" && ln -s busybox "$layer/bin/sh" || die "no busybox (package busybox-static) for an image"
	cp /usr/lib/os-release "$layer/usr/lib/"
	printf 'root:x:0:0::/root:/bin/sh\n' >"$layer/etc/passwd"
	cp -a work "$layer$area/"
	chmod 700 image/box
	chmod 1777 "$layer/tmp" "$layer/var/tmp"
	owner=$user:
	image_ids=()
	if [ "$user" = root ]; then
		owner=1700000000:1700000000
		image_ids=(--ids 65536:1700000000:1700000001)
	elif [ "${CORDON_IMAGE_IDS:-}" = many ]; then
		image_ids=(--ids "65536:$(id -u "$user"):$(sed -n "s/^$user:\([0-9]*\):.*/\1/p" /etc/subuid)")
	fi
	[ $root = 0 ] || chown -hR "$owner" image/layer image/box
	within=("$area/bin/image-run" run --profile strict --layer "$layer" --folder "$area/image/box" --cwd "$area/work" "${image_ids[@]}" --runtime "${CORDON_IMAGE_RUNTIME:-native}")
}

# What every run starts from: a work folder with secrets and a repository, and a folder beside it.
make_template()
{
	mkdir -p template/work/{sub,deep/a/b,repo/.git/{hooks,objects}} template/outside
	echo "$marker-outside" >template/outside/file
	cp bin/attack template/work/
	cd template/work || die "no template"
	echo "KEY=$marker-dotenv" >.env
	ln .env notes.txt
	cp .env deep/a/b/.env
	ln -s ../.env sub/env-link
	ln -s ../repo/.git sub/git-link
	ln -s .. sub/link
	echo 'ref: refs/heads/main' >repo/.git/HEAD
	printf '[core]\n\tbare = false\n' >repo/.git/config
	[ $root = 0 ] || chown -hR "$user:" "$area" "/tmp/${area##*/}" "/dev/shm/${area##*/}"
	if [ $root = 1 ]; then
		cp attack attack-suid
		chown nobody attack-suid
		chmod 4755 attack-suid
	fi
	cd "$area" || die "$area is gone"
}

# Root's controls look at these: they are the suite's own, so that nothing of the machine is read or changed.
make_private()
{
	address=
	[ $root = 1 ] || return
	echo "root:$marker-shadow:::::::" >shadow
	cp /usr/lib/os-release os-release
	mount --bind shadow /etc/shadow || die "cannot mount a fake /etc/shadow"
	mount --bind os-release /usr/lib/os-release || die "cannot mount a fake os-release"
	ip link set lo up && ip address add 10.203.0.1/32 dev lo && address=10.203.0.1
	echo '0 2147483647' >/proc/sys/net/ipv4/ping_group_range
	# Far from the numbers that processes have inside.
	echo 4000 >/proc/sys/kernel/ns_last_pid
}

write_policies()
{
	cat >limits.yaml <<-END
		version: 1
		extends: [strict]
		filesystem: {tmp_size: 16M}
		process: {max_processes: 64, memory: 256M, cpus: 1, max_file_size: 8M}
	END
	cat >timeout.yaml <<-END
		version: 1
		extends: [strict]
		process: {timeout: 1s}
	END
}

start_victim()
{
	local i
	cat >facts <<-END
		home=$area/home
		key=$area/home/.ssh/id_fake
		outside=$area/outside/file
		outside_folder=$area/outside
		tmp_file=/tmp/${area##*/}
		shm_file=/dev/shm/${area##*/}
		state=$area/home/.local/state/cordon/spare
		config=$area/home/.config/cordon/profiles/spare.yaml
		binary=$area/bin/attack
		runtime_dir=$area/run
		work_socket=victim.sock
		loopback4=127.0.0.1
		loopback6=::1
		mapped=::ffff:127.0.0.1
		address=$address
	END
	[ $root = 0 ] || chown "$user:" facts
	"${as_user[@]}" bin/victim facts "$area/run" home/.ssh/id_fake "$address" "$marker-argv" >/dev/null &
	victim=$!
	for ((i = 0; i < 100; i++)); do
		grep -q '^ready=1' facts && break
		sleep 0.05
	done
	grep -q '^ready=1' facts || die "the victim did not start"
	tcp_port=$(sed -n 's/^tcp_port=//p' facts)
}

# ---- One run

fresh()
{
	rm -rf work outside
	if ! cp -a template/work template/outside . || ! ln run/victim.sock work/victim.sock || ! cp -p facts work/facts; then
		die "cannot set up the work folder"
	fi
}

# host_state PROFILE: everything of the host that must be as it was after a run, in a line. Only strict promises to leave the work folder itself alone;
# of it every profile promises that nothing with a denied name is made, changed or taken away, also behind symlinks.
host_state()
{
	local watched=(home/.ssh bin outside) form='%p %y %m %U %s %T@ %l\n'
	[ "$1" = default ] || [ -n "${CORDON_WRAP:-}" ] || watched+=(work)
	{
		find "${watched[@]}" -path work/facts -o -printf "$form" # which a stage with a terminal adds to
		find -L work \( -iname .env -o -iname .bashrc -o -ipath '*/.git/config' -o -ipath '*/.git/hooks/*' -o -ipath '*/.claude/*' \) -printf "$form" 2>/dev/null
	} | sort | cksum
}

# The last line an attack printed; script(1) adds carriage returns.
reason_of()
{
	tr -d '\r\0' <"$1" | grep -v '^$' | tail -n 1
}

# How a stage starts the command in "$@", with its output in out/stdout.
stage_plain()
{
	(cd work && exec "$@") </dev/null >out/stdout 2>out/stderr
}

stage_fds()
{
	local status
	: >out/deleted
	exec 9</ # here, so that PID 1 has it open too
	(
		exec 11<>out/deleted 12<>"/dev/tcp/127.0.0.1/$tcp_port" || exit 99
		rm out/deleted
		sleep 0.1
		cd work && exec "$@" 7<"$area/home/.ssh/id_fake" 8<>"$area/outside/file" 10<"$area" 500<"$area/home/.ssh/id_fake"
	) </dev/null >out/stdout 2>out/stderr
	status=$?
	exec 9<&-
	return $status
}

stage_stdin()
{
	(cd work && exec "$@") <outside/file >out/stdout 2>out/stderr
}

stage_stdout()
{
	echo "$marker-log" >out/stdout
	[ $root = 0 ] || chown "$user:" out/stdout
	(cd work && exec "$@") </dev/null >>out/stdout 2>out/stderr
}

stage_cwd()
{
	(cd outside && exec "$@") </dev/null >out/stdout 2>out/stderr
}

# Within a terminal of script(1), which the user must own. Its identity becomes a fact before the command starts.
in_terminal()
{
	local redirect=$1
	shift
	{
		echo 't=$(readlink /proc/self/fd/0)'
		echo "{ echo tty=\$t; stat -c 'tty_dev=%d' \"\$t\"; stat -c 'tty_rdev=%r' \"\$t\"; } >>work/facts"
		echo "cd work && exec $(printf '%q ' "$@") $redirect"
	} >out/terminal.sh
	: >out/redirected
	chmod 666 out/redirected
	"${prefix[@]}" script -q -e -c "bash $area/out/terminal.sh" /dev/null </dev/null >out/stdout 2>out/stderr
}

stage_tty()
{
	in_terminal '' "$@"
}

stage_notty()
{
	local status
	in_terminal "</dev/null >$area/out/redirected 2>&1" "$@"
	status=$?
	cp out/redirected out/stdout
	return $status
}

# What is there of the attack, by number or, for an engine's containers, by name. The processes of gVisor and Docker cannot be told apart or seen: there it is any sandbox of ours.
lingering()
{
	local c on=$runtime
	[ $on != image ] || on=${CORDON_IMAGE_RUNTIME:-native}
	case $inside:$on in
	1:gvisor) pgrep -f "^runsc-(sandbox|gofer) .*$([ $root = 1 ] || echo "$area")" ;;
	1:docker) for c in $(docker ps --format '{{.Names}}' --filter name=cordon-); do [ ! -d "home/.local/state/cordon/runs/${c#cordon-}" ] || echo "$c"; done | grep . ;;
	*) pgrep -f "^\\./attack (-c )?$name\$" ;;
	esac
}

# 0 when something is still there after a second; it is ended.
outlived()
{
	local i left=
	for ((i = 0; i < 20; i++)); do
		left=$(lingering) || return 1
		sleep 0.05
	done
	# shellcheck disable=SC2086 # words
	case $left in *cordon-*) docker rm -f $left ;; *) kill -9 $left ;; esac >/dev/null
	echo "still there after a second: ${left//$'\n'/ }" >out/stdout
}

stage_daemon()
{
	stage_plain "$@"
	local status=$?
	[ $status = 0 ] || return $status
	echo "nothing is left" >out/stdout
	outlived
}

stage_orphan()
{
	local i supervisor
	(cd work && exec "${without_timeout[@]}") </dev/null >/dev/null 2>out/stderr &
	supervisor=$!
	for ((i = 0; i < 60; i++)); do
		lingering >/dev/null && break
		sleep 0.05
	done
	[ $i -lt 60 ] || return 99
	kill -9 $supervisor
	wait $supervisor 2>/dev/null
	echo "nothing is left" >out/stdout
	outlived
}

# attempt MODE: runs the current attack in the folders as they are; sets rc and reason.
#   MODE: self, root or userns (the control), strict or default (within)
attempt()
{
	local mode=$1 in_work=. target within=() command inside=0
	prefix=("${as_user[@]}")
	[ "$mode" != root ] || prefix=()
	[ "$stage" != caps ] || [ $root = 0 ] || prefix=(setpriv "--reuid=$user" "--regid=$(id -g "$user")" --init-groups --inh-caps=+net_raw --ambient-caps=+net_raw --)
	[ "$stage" != urgent ] || [ $root = 0 ] || prefix=(nice -n -5 chrt --fifo 1 ionice -c 1 "${prefix[@]}")
	[ "$stage" != cwd ] || in_work=../work
	case $mode in
	strict) within=("$area/bin/cordon" run --profile strict) ;;
	default) within=("$area/bin/cordon" run --profile default) ;;
	esac
	if [ ${#within[@]} -gt 0 ]; then
		[ "$stage" != limits ] || within=("$area/bin/cordon" run --policy "$area/limits.yaml")
		[ "$stage" != timeout ] || within=("$area/bin/cordon" run --policy "$area/timeout.yaml")
		if [ "$runtime" = image ]; then
			make_image
			[ "$stage" != limits ] || within+=(--policy "$area/limits.yaml")
			[ "$stage" != timeout ] || within+=(--policy "$area/timeout.yaml")
		else
			[ "$stage" != cwd ] || within+=(--workdir ../work)
			[ "$runtime" = native ] || within+=(--runtime "$runtime")
		fi
		within+=(--)
		# shellcheck disable=SC2206 # words are what it has
		[ -z "${CORDON_WRAP:-}" ] || within=($CORDON_WRAP)
		target=(./attack "$name") inside=1
	else
		[ "$mode" != userns ] || within=(unshare -Urmpf --mount-proc --kill-child --)
		[ "$stage" != orphan ] || within=(bash -c '"$@"; exit' bash)
		target=("$in_work/attack" -c "$name")
	fi
	command=(env "LD_PRELOAD=/nonexistent/$marker.so" "LD_LIBRARY_PATH=/nonexistent" "BASH_ENV=/nonexistent" "${within[@]}" "${target[@]}")
	case $stage in tty | notty) ;; *) command=("${prefix[@]}" "${command[@]}") ;; esac
	without_timeout=("${command[@]}")
	command=(timeout -k 2 20 "${command[@]}")
	: >out/stdout
	: >out/stderr
	case $stage in
	deny | caps | urgent | limits | timeout) stage_plain "${command[@]}" ;;
	*) "stage_$stage" "${command[@]}" ;;
	esac
	rc=$?
	reason=$(reason_of out/stdout)
}

# The control as the attack asks for it. A refusal is tried again as root: many machines keep ordinary users from what root may do, and the
# sandbox must hold for both. Without root a refusal proves nothing: the attack is skipped.
try_outside()
{
	if [ "$control" = userns ] && [ $have_userns = 0 ]; then
		rc=77 reason="the control needs user namespaces"
		return
	fi
	fresh
	attempt "$control"
	if [ $rc = 1 ] && [ "$control" = self ] && [ $root = 1 ] && [ "$user" != root ]; then
		fresh
		attempt root
	fi
	[ $rc != 1 ] || [ $root = 1 ] || { rc=77; reason="the control needs root ($reason)"; }
}

# A limit may end the attack, or all of the sandbox, instead of refusing a call.
is_refusal()
{
	case $stage:$1 in
	limits:137 | timeout:124 | timeout:137 | *:1) return 0 ;;
	esac
	return 1
}

# Sets rc, reason and where, of the first profile in which it was not refused, or of the last; changed: it reached the host.
try_inside()
{
	local mode before first=()
	changed=
	for mode in "$@"; do
		fresh
		before=$(host_state "$mode")
		attempt "$mode"
		if [ "$before" != "$(host_state "$mode")" ]; then
			rc=0 reason="the host's files changed ($reason)" where=$mode changed=1
			return 1
		fi
		is_refusal $rc || [ ${#first[@]} -gt 0 ] || first=("$rc" "$reason" "$mode")
		where=$mode
	done
	[ ${#first[@]} -gt 0 ] || return 0
	rc=${first[0]} reason=${first[1]} where=${first[2]}
	return 1
}

passed=0 failed=0 skipped=0 number=0

report()
{
	number=$((number + 1))
	case $1 in
	pass) passed=$((passed + 1)); echo "ok $number - $2" ;;
	skip) skipped=$((skipped + 1)); echo "ok $number - $2 # SKIP $3" ;;
	fail) failed=$((failed + 1)); echo "not ok $number - $2" ;;
	esac
}

# Why this attack is known to succeed inside under the conditions of this run; empty where it is not. Behind a "?" where it is not certain.
known_reason()
{
	local who=user when
	[ "$user" != root ] || who=root
	when="$who|$runtime|$runtime-$who"
	case ${CORDON_MISSING:-} in *landlock*) when="$when|no-landlock" ;; esac
	case $runtime:${CORDON_IMAGE_RUNTIME:-} in native: | image: | image:native) ;; image:*) when="$when|box|$CORDON_IMAGE_RUNTIME|image-$CORDON_IMAGE_RUNTIME" ;; *) when="$when|box" ;; esac
	awk -v name="$name" -v when="^($when)[?]?$" '$1 == name && $2 ~ when {
		mark = $2 ~ /[?]$/ ? "?" : ""; sub(/^[^ ]+ [^ ]+ /, ""); print mark $0; found = 1; exit } END { exit !found }' "$here/known.txt"
}

run_attack()
{
	local outside outside_reason inside known modes=(strict) what="$domain: $promise"
	if [ "$stage" = deny ] && [ "$runtime" = image ]; then
		report skip "$what" "an image shows no folder of the host: there is no name to deny"
		return
	fi
	[ "$stage" != deny ] || [ -n "${CORDON_WRAP:-}" ] || modes+=(default)
	try_outside
	outside=$rc outside_reason=$reason
	try_inside "${modes[@]}"
	inside=$?
	[ -z "${ESCAPE_VERBOSE:-}" ] || printf '# %s\n#   outside, %s: %s\n#   inside, %s: %s\n' "$name" "$outside" "$outside_reason" "$rc" "$reason"
	if known=$(known_reason) && [ $inside != 0 ] && [ "$rc" = 0 ] && [ -z "$changed" ]; then
		report skip "$what" "known: ${known#\?}"
	elif [ -n "$known" ] && [[ $known != \?* || -n $changed ]]; then
		report fail "$what [$name]"
		echo "# tests/escape/known.txt says that it succeeds inside and reaches nothing, but ($where) status $rc: $reason"
	elif [ $inside = 0 ] && [ $outside = 0 ]; then
		report pass "$what (succeeds outside, refused inside)"
	elif [ $outside = 77 ] && [ "$rc" = 77 ]; then
		report skip "$what" "${outside_reason//#/}"
	elif [ $inside = 0 ] && [ $outside = 77 ]; then
		report skip "$what (refused inside)" "${outside_reason//#/}"
	else
		report fail "$what [$name]"
		echo "# outside, status $outside: $outside_reason"
		echo "# inside ($where), status $rc: $reason"
		grep -v '^ERROR: ld.so: object' out/stderr | head -n 3 | sed 's/^/# /'
	fi
}

# ---- The list

chosen()
{
	local word
	[ $# -gt 0 ] || return 0
	for word; do
		# shellcheck disable=SC2053 # a pattern is welcome
		[[ $name == $word || $domain == $word ]] && return 0
	done
	return 1
}

check_readme()
{
	local missing=
	while IFS=$'\t' read -r name _; do
		grep -q "^| \`$name\` |" "$here/README.md" 2>/dev/null || missing+=" $name"
	done <list
	if [ -z "$missing" ]; then
		report pass "the list in README.md is complete"
	else
		report fail "the list in README.md is complete"
		echo "# missing:$missing"
	fi
}

make_host
make_template
make_private
write_policies
[ $root = 0 ] || chown "$user:" out ./*.yaml
have_userns=0
"${as_user[@]}" unshare -Urmpf --mount-proc true 2>/dev/null && have_userns=1
start_victim
trap 'kill $victim 2>/dev/null; wait $victim 2>/dev/null' EXIT
bin/attack -l >list

selected=0
while IFS=$'\t' read -r name domain _; do
	! chosen "$@" || selected=$((selected + 1))
done <list
[ $selected -gt 0 ] || die "no attack matches: $*"
echo "1..$((selected + 1))"
check_readme
while IFS=$'\t' read -r name domain control stage promise <&3; do
	! chosen "$@" || run_attack
done 3<list
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
