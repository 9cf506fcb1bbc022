#!/bin/bash
# backends.sh: what Cordon adds to a runtime that it uses, and what a warm sandbox costs. Run by run.sh.
#
# A runtime is called directly with the very bundle that Cordon writes for it, but with /bin/true in cordon-init's place; docker with the options that Cordon asks for by the API.
set -u
. "$(dirname "$0")/lib.sh"
cd "$BENCH_TMP" || exit 2
mkdir -p work bin && cd work || exit 2
rows=(plain /bin/true)
skipped=()

stop_all()
{
	local id
	for id in $("$CORDON" ps -q 2>/dev/null); do
		timeout 20 "$CORDON" stop -t 0 "$id"
	done
	stop_docker
} 2>/dev/null
trap stop_all EXIT

# The box of the sandbox that is kept under this id.
box_of()
{
	local d
	for d in /run/cordon "$XDG_RUNTIME_DIR/cordon"; do
		[ ! -d "$d/$1" ] || echo "$d/$1"
	done
}

# direct RUNTIME: bin/RUNTIME starts the same container without Cordon, as long as the kept sandbox that it was taken from lives.
direct()
{
	local id box bundle=$BENCH_RUNTIME/bundle-$1 flags=() rootless=
	timeout 30 "$CORDON" run --runtime "$1" --profile strict --keep -- /bin/true 2>"$BENCH_TMP/why" || return
	id=$(sed -n 's/.*kept as \([0-9a-f]*\).*/\1/p' "$BENCH_TMP/why")
	box=$(box_of "$id")
	mkdir -p "$bundle" && python3 - "$box" "$bundle" <<'END' || return
import json, sys
box, bundle = sys.argv[1:]
spec = json.load(open(box + "/config.json"))
spec["process"]["args"] = ["/usr/bin/true"]
spec["linux"].pop("cgroupsPath", None)
json.dump(spec, open(bundle + "/config.json", "w"))
END
	[ "$(id -u)" = 0 ] || rootless=1
	case $1 in
	gvisor) flags=(runsc "--root=$bundle/state" --platform=ptrace --network=none --host-uds=open --ignore-cgroups ${rootless:+--rootless} run "--bundle=$bundle") ;;
	runc) flags=(runc "--root=$bundle/state" run "--bundle=$bundle") ;;
	crun) flags=(crun "--root=$bundle/state" --cgroup-manager=disabled run "--bundle=$bundle") ;;
	esac
	printf '#!/bin/sh\nexec %s bench-$$\n' "$(printf '%q ' "${flags[@]}")" >"$BENCH_TMP/bin/$1" && chmod +x "$BENCH_TMP/bin/$1"
	timeout 30 "$BENCH_TMP/bin/$1" >"$BENCH_TMP/why" 2>&1 </dev/null
}

# pair RUNTIME K: takes both in if both work.
pair()
{
	if direct "$1"; then
		rows+=(',' "$1@$2" "$BENCH_TMP/bin/$1" ',' "cordon-$1@$2" "$CORDON" run --runtime "$1" --profile strict -- /bin/true)
	else
		skipped+=("$1: $(tail -n 1 "$BENCH_TMP/why" | tr -d '|`' | cut -c1-160)")
	fi
}

pair_docker()
{
	local same=(docker run --rm --network none --cap-drop ALL --security-opt no-new-privileges --read-only --user 1900000000 --pids-limit 256 --memory 2g --memory-swap 2g --cpus 2
		--tmpfs /tmp:rw,nosuid,nodev -v /usr:/usr:ro -v "$BENCH_TMP/work:/work" --log-driver none bench /usr/bin/true)
	if start_docker && (mkdir -p "$BENCH_TMP/image/"{usr,tmp,proc,dev} && cd "$BENCH_TMP/image" && for l in bin lib lib64; do ln -sf "usr/$l" $l; done && tar c .) | docker import - bench >/dev/null && timeout 60 "${same[@]}" >"$BENCH_TMP/why" 2>&1 && timeout 60 "$CORDON" run --runtime docker --profile strict -- /bin/true >"$BENCH_TMP/why" 2>&1; then
		rows+=(',' "docker@10" "${same[@]}" ',' "cordon-docker@10" "$CORDON" run --runtime docker --profile strict -- /bin/true)
	else
		skipped+=("docker: $(tail -n 1 "$BENCH_TMP/why" 2>/dev/null | tr -d '|`' | cut -c1-160)")
	fi
}

# warm RUNTIME: a command in a sandbox that stands ready.
warm()
{
	local id
	timeout 30 "$CORDON" run --runtime "$1" --profile strict --keep -- /bin/true 2>"$BENCH_TMP/why" || return
	id=$(sed -n 's/.*kept as \([0-9a-f]*\).*/\1/p' "$BENCH_TMP/why")
	rows+=(',' "exec-$1" "$CORDON" exec "$id" -- /bin/true)
}

pair crun 2
pair runc 10
pair gvisor 20
pair_docker
rows+=(',' starter "$BENCH_BIN/bench-bare" --plain /bin/true)
warm native
warm gvisor

out=$BENCH_TMP/backends.tsv
"$SPAWN" -r "$BENCH_ROUNDS" "${rows[@]}" >"$out" || exit 2
echo "#### Other runtimes and warm sandboxes, as $who"
echo
echo '| start to exit of /bin/true | runs | median, ms | 10 % | 90 % |'
echo '|---|--:|--:|--:|--:|'
while IFS=$'\t' read -r name n median p10 p90 _; do
	if [ "$n" = failed ]; then
		skipped+=("$name: $median")
		continue
	fi
	case $name in
	plain) what='`/bin/true`, plain' ;;
	starter) what='a static program that starts `/bin/true` and waits, and nothing else' ;;
	exec-*) what="\`cordon exec\`, ${name#exec-}" ;;
	cordon-*) what="**\`cordon run --runtime ${name#cordon-}\`**" ;;
	*) what="$name, called directly" ;;
	esac
	printf '| %s | %s | %s |\n' "$what" "$n" "$(awk -v a="$median" -v b="$p10" -v c="$p90" 'BEGIN { printf "%.2f | %.2f | %.2f", a / 1000, b / 1000, c / 1000 }')"
	row backends "$name" runs "$n" median_us "$median" p10_us "$p10" p90_us "$p90"
done <"$out"
echo
for s in "${skipped[@]}"; do
	printf '%s\n' "- not measured: $s"
	row backends "${s%%:*}" skipped "$(printf '%s' "${s#*: }" | tr -dc 'a-zA-Z0-9 :,./_-')"
done
for r in crun runc gvisor; do
	[ -z "$(field "$out" "$r" 3)" ] || bar backends "cordon --runtime $r / $r" "$(ratio "$(field "$out" "cordon-$r" 3)" "$(field "$out" "$r" 3)")" 1.15
done
[ -z "$(field "$out" docker 3)" ] || bar backends "cordon --runtime docker / docker run" "$(ratio "$(field "$out" cordon-docker 3)" "$(field "$out" docker 3)")" 1.1
bar backends "exec, native / plain" "$(ratio "$(field "$out" exec-native 3)" "$(field "$out" plain 3)")" 1.5
[ -z "$(field "$out" cordon-gvisor 3)" ] || bar backends "exec, gvisor / its cold start" "$(ratio "$(field "$out" exec-gvisor 3)" "$(field "$out" cordon-gvisor 3)")" 0.1

# 100 prepared sandboxes handed out one after the other, each to a command of its own.
stop_all
"$CORDON" run --profile strict --warm 100 -- /bin/true
for ((i = 0; i < 300; i++)); do
	[ "$(find "$XDG_STATE_HOME/cordon/warm" -type f ! -name lock | wc -l)" -lt 100 ] || break
	sleep 0.1
done
if [ $i -lt 300 ]; then
	took=$(python3 - "$CORDON" <<'END'
import subprocess, sys, time
# one is enough to be had ready: nobody prepares more beside us
command = [sys.argv[1], "run", "--profile", "strict", "--warm", "1", "--", "/bin/true"]
start = time.monotonic()
for _ in range(100):
    subprocess.run(command, check=True, close_fds=False)
print("%.3f" % (time.monotonic() - start))
END
	)
	bar backends "100 prepared sandboxes handed out" "$took" 0.3 s
else
	echo "- not measured: 100 prepared sandboxes did not get ready in 30 s"
fi
bench_end
