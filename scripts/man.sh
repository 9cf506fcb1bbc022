#!/bin/bash
# Writes man/cordon.1, which the program makes, for those who read it in a clone. With --check: only says whether it is the same.
#
#     scripts/man.sh [--check] [CORDON]
set -eu
page=$(cd "$(dirname "$0")/.." && pwd)/man/cordon.1
check=0
if [ "${1:-}" = --check ]; then
	check=1
	shift
fi
cordon=${1:-${page%/man/cordon.1}/build/cordon}
if [ $check = 0 ]; then
	"$cordon" man >"$page"
elif ! "$cordon" man | cmp -s - "$page"; then
	echo "man/cordon.1 is not what \`cordon man\` prints; run scripts/man.sh"
	exit 1
fi
