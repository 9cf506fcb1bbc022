#!/bin/bash
# start.sh: start-to-exit of /bin/true, plain and in sandboxes, side by side. Run by run.sh.
set -u
. "$(dirname "$0")/lib.sh"
cd "$BENCH_TMP" || exit 2
mkdir -p work && cd work || exit 2

# bundle TOOL: an OCI bundle of busybox, with the configuration that the tool itself writes.
bundle()
{
	local dir=$BENCH_TMP/bundle-$1 rootless=()
	[ "$(id -u)" = 0 ] || rootless=(--rootless)
	mkdir -p "$dir/rootfs/bin" && cp "$(command -v busybox)" "$dir/rootfs/bin/" && ln -s busybox "$dir/rootfs/bin/true" || return
	(cd "$dir" && "$1" spec "${rootless[@]}" >/dev/null) || return
	sed -i -e 's/"terminal": true/"terminal": false/' -e 's/"sh"/"\/bin\/true"/' "$dir/config.json"
}

rows=(plain /bin/true)
skipped=()

# try NAME[@K] CMD...: takes the command in if it works once.
try()
{
	local name=$1 why
	shift
	if ! command -v "$1" >/dev/null; then
		skipped+=("${name%@*}: ${1##*/} is not installed")
	elif ! why=$(timeout 20 "$@" 2>&1 </dev/null); then
		skipped+=("${name%@*}: $(printf '%s' "$why" | tail -n 1 | tr -d '|`' | cut -c1-160)")
	else
		rows+=(',' "$name" "$@")
	fi
}

# The tools write errors to stderr and to their own logs; what counts is here whether they work.
rootless=()
[ "$(id -u)" = 0 ] || rootless=(--rootless)
try unshare unshare -Urmpinuf /bin/true
try bare "$BENCH_BIN/bench-bare" /bin/true
try root "$BENCH_BIN/bench-bare" --root /bin/true
try bwrap bwrap --ro-bind / / --unshare-all /bin/true
if command -v busybox >/dev/null; then
	if bundle crun 2>/dev/null; then
		try crun@2 crun --root "$BENCH_TMP/crun" --cgroup-manager=disabled run -b "$BENCH_TMP/bundle-crun" "bench-$$"
	else
		skipped+=("crun: not installed")
	fi
	if bundle runc 2>/dev/null; then
		try runc@10 runc --root "$BENCH_TMP/runc" run -b "$BENCH_TMP/bundle-runc" "bench-$$"
	else
		skipped+=("runc: not installed")
	fi
else
	skipped+=("crun, runc: busybox is not installed")
fi
try runsc@50 runsc "${rootless[@]}" --platform=ptrace --network=none "do" /bin/true
try cordon "$CORDON" run --profile strict -- /bin/true

describe()
{
	case $1 in
	plain) echo '`/bin/true`, plain' ;;
	unshare) echo '`unshare -Urmpinuf`' ;;
	bare) echo 'a static program that makes the namespaces, and nothing else' ;;
	root) echo 'the same with a root of as many mounts as a sandbox has: what the kernel takes for them' ;;
	bwrap) echo '`bwrap --ro-bind / / --unshare-all`' ;;
	crun) echo 'crun, busybox bundle, no cgroup' ;;
	runc) echo 'runc, busybox bundle' ;;
	runsc) echo '`runsc --network=none do` (ptrace)' ;;
	cordon) echo '**`cordon run --profile strict`**' ;;
	esac
}

out=$BENCH_TMP/start.tsv
"$SPAWN" -r "$BENCH_ROUNDS" "${rows[@]}" >"$out" || exit 2
echo "#### Start to exit of /bin/true, as $who"
echo
echo '| command | runs | median, ms | 10 % | 90 % | ratio to plain |'
echo '|---|--:|--:|--:|--:|--:|'
while IFS=$'\t' read -r name n median p10 p90 ratio; do
	if [ "$n" = failed ]; then
		skipped+=("$name: $median")
		continue
	fi
	printf '| %s | %s | %s | %.1f |\n' "$(describe "$name")" "$n" \
		"$(awk -v a="$median" -v b="$p10" -v c="$p90" 'BEGIN { printf "%.2f | %.2f | %.2f", a / 1000, b / 1000, c / 1000 }')" "$ratio"
	row start "$name" runs "$n" median_us "$median" p10_us "$p10" p90_us "$p90" ratio "$ratio"
done <"$out"
echo
for s in "${skipped[@]}"; do
	printf '%s\n' "- not measured: $s"
	row start "${s%%:*}" skipped "$(printf '%s' "${s#*: }" | tr -dc 'a-zA-Z0-9 :,./_-')"
done
cordon=$(field "$out" cordon 3)
bar start "cordon / bwrap" "$(ratio "$cordon" "$(field "$out" bwrap 3)")" 0.6
bar start "cordon / plain" "$(ratio "$cordon" "$(field "$out" plain 3)")" 4
bench_end
