#!/bin/bash
# guest.sh: the machine's second life (tests/kernel/vm.sh, tests/kernel/init): mounts as systemd does on a machine with cgroup v2 only, then the suites, then the end.
# What it says goes to the second serial line; kernel and console have the first.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin LANG=C.UTF-8
user=cordon-test cg=/sys/fs/cgroup
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t cgroup2 cgroup2 $cg -o nsdelegate,memory_recursiveprot
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts -o gid=5,mode=620,ptmxmode=666
mount -t tmpfs tmpfs /dev/shm -o mode=1777
mount -t tmpfs tmpfs /run -o mode=755
mkdir -p /run/lock /run/user
ln -sfn /proc/self/fd /dev/fd
ln -sfn pts/ptmx /dev/ptmx 2>/dev/null
mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
hostname cordon-vm
ip link set lo up
# The modules are not where the kernel's helper looks for them.
printf '#!/bin/sh\nexec /usr/sbin/modprobe -d /kernel "$@"\n' >/run/modprobe && chmod 755 /run/modprobe
echo /run/modprobe >/proc/sys/kernel/modprobe
sysctl -q -w kernel.yama.ptrace_scope=1 fs.inotify.max_user_instances=1024 kernel.sysrq=0 >/dev/null 2>&1

stty -F /dev/ttyS1 raw -echo 2>/dev/null
exec >/dev/ttyS1 2>&1 </dev/null
id $user >/dev/null 2>&1 || useradd --create-home --shell /bin/bash $user
home=$(getent passwd $user | cut -d: -f6) uid=$(id -u $user)
mkdir -p "$home" && chown $user: "$home"
suites=() who=() slow=1
# shellcheck disable=SC1091 # of vm.sh
. /src/job

# enable FOLDER CONTROLLERS: for its children.
enable()
{
	mkdir -p "$1" && echo "$2" >"$1/cgroup.subtree_control"
}

# As systemd has them: slices with controllers, sessions that are root's, a user manager's subtree that is the user's.
slices=$cg/user.slice/user
enable $cg '+cpu +memory +pids'
enable $cg/user.slice '+cpu +memory +pids'
enable $slices-0.slice '+memory +pids'
enable $slices-"$uid".slice '+cpu +memory +pids'
mkdir -p $slices-0.slice/session-1.scope $slices-"$uid".slice/session-2.scope
manager=$slices-$uid.slice/user@$uid.service
enable "$manager" '+cpu +memory +pids'
enable "$manager/app.slice" '+cpu +memory +pids'
mkdir "$manager/app.slice/run.scope"
for d in "$manager" "$manager/app.slice" "$manager/app.slice/run.scope"; do
	chown $user "$d" "$d"/cgroup.{procs,threads,subtree_control}
done

# run WHO CGROUP OWNER WORD...: the suites, in a shell that is in that cgroup; the words go before them.
run()
{
	local name=$1 cgroup=$2 owner=$3 list=() s
	shift 3
	chown -R "$owner": /src
	for s in "${suites[@]}"; do
		case $s in
		unit) list+=(/src/build/tests/test-* /src/build/tests/replay-*) ;;
		*) list+=("/src/$s") ;;
		esac
	done
	(
		echo $BASHPID >"$cgroup/cgroup.procs" && cd /src &&
			exec "$@" env CORDON_MISSING= CORDON_TEST_TIMEOUT=7200 "CORDON_TEST_SLOW=$slow" /src/scripts/test.sh --label "$(uname -r) $name" /src/build "${list[@]}"
	)
}

clean=(env -i "PATH=$PATH" LANG=C.UTF-8)
as_user=(runuser -u "$user" -- "${clean[@]}" "HOME=$home" "USER=$user")
for w in "${who[@]}"; do
	case $w in
	root) run root $slices-0.slice/session-1.scope root "${clean[@]}" HOME=/root USER=root ;;
	bare) run bare $cg root "${clean[@]}" HOME=/root USER=root ;;
	user) run user $slices-"$uid".slice/session-2.scope $user "${as_user[@]}" ;;
	delegated) run delegated "$manager/app.slice/run.scope" $user "${as_user[@]}" ;;
	*) echo "$w: 0 passed, 1 failed, 0 skipped (nobody knows who that is)" ;;
	esac
done
echo "the end"
sleep 1
busybox poweroff -f
