#!/bin/bash
# vm.sh [OPTION...] BUILD [SUITE...]: runs suites on another kernel, in a virtual machine, and counts their TAP. The last line is "N passed, N failed, N skipped".
#
#   --kernel NAME   a package of Debian, or a folder with boot/vmlinuz-* and lib/modules (default: linux-image-amd64)
#   --as WHO        may be repeated: root and user in sessions as systemd makes them on cgroup v2, delegated (user, with a cgroup of its own), bare
#                   (root in the root cgroup) (default: root, delegated, user)
#   --cpus N, --memory MIB, --minutes N    of the machine (1, 2048, 360)
#   --accel A       kvm or tcg (default: kvm where /dev/kvm can be used)
#
# SUITE is a path below the tree, or unit (the programs of BUILD). Without any: what a kernel could change. The machine has this one's /usr, read-only, a copy of its /etc without secrets,
# an ext4 for all else, and no network. Nothing of this machine is changed; kernels are kept in ~/.cache/cordon-test. Where qemu or the kernel cannot be had, all of it is one skipped test.

set -u
here=$(cd "$(dirname "$0")" && pwd)
src=$(cd "$here/../.." && pwd)
kernel=linux-image-amd64 who=() cpus=1 memory=2048 minutes=360 accel=
while [ $# -gt 0 ]; do
	case $1 in
	--kernel) kernel=$2 ;;
	--as) who+=("$2") ;;
	--cpus) cpus=$2 ;;
	--memory) memory=$2 ;;
	--minutes) minutes=$2 ;;
	--accel) accel=$2 ;;
	*) break ;;
	esac
	shift 2
done
[ $# -ge 1 ] || { echo "usage: vm.sh [OPTION...] BUILD [SUITE...]" >&2; exit 2; }
build=$(cd "$1" && pwd) || exit 2
shift
[ ${#who[@]} -gt 0 ] || who=(root delegated user)
[ $# -gt 0 ] || set -- unit tests/cli/{run,deny,work,exec_rules,attacks,badinput,changes,doctor,audit,runs,keep,tty}.sh tests/escape/run.sh tests/limits/run.sh

# Debian's own programs are where an ordinary user's PATH is not.
PATH=$PATH:/usr/sbin:/sbin

skipped()
{
	printf 'skipped: %s\n0 passed, 0 failed, 1 skipped\n' "$*"
	exit 0
}

# Sets folder (boot/vmlinuz-VERSION, lib/modules/VERSION with its lists) and version.
get_kernel()
{
	local package cache=${XDG_CACHE_HOME:-$HOME/.cache}/cordon-test
	if [ -d "$kernel" ]; then
		folder=$kernel
	else
		# The package that names only the newest one depends on it.
		package=$(apt-cache depends "$kernel" 2>/dev/null | awk '$1 == "Depends:" && $2 ~ /^linux-image-[0-9]/ { print $2; exit }')
		package=${package:-$kernel}
		folder=$cache/$package
		if [ ! -d "$folder" ]; then
			mkdir -p "$cache" && rm -rf "$folder.new" || exit 2
			(cd "$work" && apt-get download "$package") >"$work/apt" 2>&1 || skipped "no package $package: $(tail -n 1 "$work/apt")"
			dpkg-deb -x "$work/$package"_*.deb "$folder.new" || exit 2
			[ ! -d "$folder.new/usr/lib/modules" ] || ln -sfn usr/lib "$folder.new/lib"
			mv "$folder.new" "$folder" || exit 2
		fi
	fi
	version=$(ls "$folder/lib/modules")
	[ -e "$folder/boot/vmlinuz-$version" ] || { echo "vm.sh: no one kernel in $folder" >&2; exit 2; }
	[ -e "$folder/lib/modules/$version/modules.dep" ] || depmod -b "$folder" "$version" || exit 2
}

# The first file system: busybox, and the modules without which there is no other.
make_initramfs()
{
	local root=$work/initramfs n=0 kind file
	mkdir -p "$root"/{bin,dev,proc,root,modules} && cp "$(command -v busybox)" "$root/bin/" && cp "$here/init" "$root/" || return 1
	while read -r kind file _; do
		[ "$kind" = insmod ] || continue # builtin
		n=$((n + 1))
		case $file in
		*.xz) xz -dc "$file" ;;
		*.zst) zstd -dcq "$file" ;;
		*) cat "$file" ;;
		esac >"$root/modules/$(printf '%03d' $n).ko" || return 1
	done < <(for m in virtio_pci virtio_blk ext4 9pnet_virtio 9p virtio_rng; do modprobe -d "$folder" -S "$version" --show-depends "$m"; done | awk '!seen[$2]++')
	(cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$work/initramfs.img"
}

# The root: this tree, the build without its objects, /etc without what only root may read.
make_disk()
{
	local root=$work/root
	mkdir -p "$root"/{dev,proc,sys,run,root,home,mnt,opt,srv,kernel,usr,var/tmp,var/lib,var/log,tmp,src/build,etc} || return 1
	chmod 1777 "$root/tmp" "$root/var/tmp"
	chmod 700 "$root/root"
	ln -s usr/bin usr/sbin usr/lib "$root/"
	[ ! -e /usr/lib64 ] || ln -s usr/lib64 "$root/"
	ln -s /run "$root/var/run"
	cp -a "$(realpath /etc)/." "$root/etc/" 2>/dev/null
	find "$root/etc" ! -type l ! -perm -004 -depth -delete
	rm -f "$root"/etc/{fstab,resolv.conf}
	tar -C "$src" --exclude=./.git --exclude='./build*' -cf - . | tar -C "$root/src" -xf - &&
		tar -C "$build" --exclude='*.p' --exclude='*.a' --exclude=./agents --exclude=meson-private --exclude=meson-logs -cf - . | tar -C "$root/src/build" -xf - || return 1
	{
		printf 'who=(%s) slow=%d\n' "${who[*]}" "$([ "$accel" = tcg ] && echo 10 || echo 1)"
		printf 'suites=('
		printf ' %q' "$@"
		printf ' )\n'
	} >"$root/src/job"
	truncate -s 12G "$work/disk.img" && mkfs.ext4 -q -F -E root_owner=0:0,lazy_itable_init=1 -d "$root" "$work/disk.img"
}

# A kvm that is there may still not work, where this is a virtual machine itself: the kernel must come as far as missing its root.
kvm_works()
{
	[ -w /dev/kvm ] && timeout -k 5 15 qemu-system-x86_64 -accel kvm -cpu max,arch-capabilities=off -m 512 -nodefaults -no-user-config -display none -no-reboot -net none \
		-kernel "$folder/boot/vmlinuz-$version" -append 'panic=-1 quiet' >/dev/null 2>&1
}

for program in qemu-system-x86_64 busybox modprobe depmod mkfs.ext4; do
	command -v $program >/dev/null || skipped "$program is not installed (scripts/deps.sh kernel)"
done
[ "$(uname -m)" = x86_64 ] || skipped "only kernels for x86-64 are known here"
work=$(mktemp -d /var/tmp/cordon-vm.XXXXXX) || exit 2
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
get_kernel
[ -n "$accel" ] || { kvm_works && accel=kvm; } || accel=tcg
if ! make_initramfs || ! make_disk "$@"; then
	echo "vm.sh: the machine's files cannot be made" >&2
	exit 2
fi
echo "kernel $version (${kernel##*/}), $cpus CPU ($accel), $memory MiB"
touch "$work/console" "$work/result"
timeout -k 10 "${minutes}m" qemu-system-x86_64 -accel "$accel" -M q35 -cpu max,arch-capabilities=off -smp "$cpus" -m "$memory" -nodefaults -no-user-config -display none -no-reboot -net none \
	-kernel "$folder/boot/vmlinuz-$version" -initrd "$work/initramfs.img" -append "console=ttyS0 panic=-1 quiet ${CORDON_VM_APPEND:-}" \
	-chardev file,id=console,path="$work/console" -serial chardev:console \
	-chardev file,id=result,path="$work/result" -serial chardev:result \
	-drive if=none,id=disk,format=raw,cache=unsafe,file="$work/disk.img" -device virtio-blk-pci,drive=disk \
	-virtfs local,path=/usr,mount_tag=usr,security_model=none,readonly=on,multidevs=remap \
	-virtfs local,path="$folder",mount_tag=kernel,security_model=none,readonly=on,multidevs=remap \
	-device virtio-rng-pci >"$work/qemu" 2>&1 &
pid=$!
tail -n +1 -f --pid=$pid "$work/result" | tee "$work/said"
wait $pid
pid=
# Whatever ended the machine early is a failure, and the console knows why.
if ! grep -q '^the end$' "$work/said"; then
	{ cat "$work/qemu"; tail -n 40 "$work/console"; } | tr -d '\r' | sed 's/^/    | /'
	echo "the machine: 0 passed, 1 failed, 0 skipped" | tee -a "$work/said"
fi
awk -F': ' '/: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped/ { split($2, n, /[^0-9]+/); p += n[1]; f += n[2]; s += n[3]; jobs++ }
	END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || jobs == 0 }' "$work/said"
