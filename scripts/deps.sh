#!/bin/bash
# deps.sh GROUP...: installs the Debian packages of the groups that are missing. Needs no root, and does nothing, where all are there.
# As root by apt-get; else through sudo where it asks no password; else it prints the one command to run, and fails.

set -u
packages()
{
	case $1 in
	build) echo gcc libc6-dev musl-tools make meson ninja-build pkg-config libyaml-dev libjansson-dev libssl-dev libnghttp2-dev libc-ares-dev zlib1g-dev libbz2-dev liblzma-dev libzstd-dev node-llhttp ;;
	test) echo busybox-static clang crun curl docker-compose docker.io golang-github-burntsushi-toml-dev golang-go libclang-rt-14-dev git iproute2 nghttp2-client nghttp2-server nginx ntfs-3g openssh-client openssh-server openssl procps python3 python3-pip python3-pytest runc runsc uidmap util-linux xz-utils zstd ;;
	demo) echo busybox-static python3 ;;
	bench) echo hyperfine bubblewrap crun runc runsc busybox-static git haproxy iproute2 mitmproxy nginx openssl python3 util-linux ;;
	kernel) echo busybox-static e2fsprogs kmod qemu-system-x86 xz-utils zstd ;;
	lint) echo clang-format clang-tidy shellcheck mandoc ;;
	*)
		echo "deps.sh: unknown group $1; there are build, demo, test, bench, kernel and lint" >&2
		return 1
		;;
	esac
}

wanted=()
for group; do
	list=$(packages "$group") || exit 2
	read -ra list <<<"$list"
	wanted+=("${list[@]}")
done
if ! command -v dpkg-query >/dev/null; then
	echo "deps.sh: this is no Debian; make sure that you have the equivalents of: ${wanted[*]}" >&2
	exit 0
fi
missing=()
for p in "${wanted[@]}"; do
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
done
[ ${#missing[@]} -gt 0 ] || exit 0

install=(apt-get install -y --no-install-recommends "${missing[@]}")
as_root=()
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
		printf 'These packages are missing. Run this as root, then try again:\n\n    %s\n\n' "${install[*]}" >&2
		exit 1
	fi
	as_root=(sudo -n)
fi
export DEBIAN_FRONTEND=noninteractive
echo "Installing: ${missing[*]}"
# The package lists of a fresh machine may be empty or old.
"${as_root[@]}" "${install[@]}" >/dev/null 2>&1 || { "${as_root[@]}" apt-get update && "${as_root[@]}" "${install[@]}"; }
