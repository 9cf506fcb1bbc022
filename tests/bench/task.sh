#!/bin/bash
# task.sh: a benchmark task beside the way it is run with Docker Compose. Run by run.sh.
#
# The task is examples/tasks/hello, its image made from busybox and present on both sides; from start to result. With Compose: up, exec of the solution, exec of the test, down. Builds are of four steps that were all made before.
set -u
. "$(dirname "$0")/lib.sh"
cd "$BENCH_TMP" || exit 2
export XDG_DATA_HOME=$BENCH_TMP/data
trap stop_docker EXIT
task=$(dirname "$0")/../hello
mkdir -p root/bin root/etc root/tmp build/files bin out || exit 2
busybox=$(command -v busybox) && cp "$busybox" root/bin/busybox || { echo "- not measured: there is no busybox"; bench_end; }
for name in $(busybox --list); do [ "$name" = busybox ] || ln -s busybox "root/bin/$name"; done
echo 'root:x:0:0:root:/:/bin/sh' >root/etc/passwd
"$CORDON" image import busybox root >/dev/null || exit 2
for ((i = 0; i < 200; i++)); do echo "$i" >"build/files/$i"; done
printf 'FROM busybox\nWORKDIR /app\nCOPY files files\nRUN ls files >list\nRUN wc -l list >count\n' >build/Dockerfile

rows=(plain /bin/true ',' check "$CORDON" task check "$task")
printf '#!/bin/sh\nout=out/$$\n%q task run %q --agent oracle --out "$out" >/dev/null 2>&1 && rm -rf "$out"\n' "$CORDON" "$task" >bin/native
printf '#!/bin/sh\nexec %q build build >/dev/null 2>&1\n' "$BENCH_BIN/build-drive" >bin/build-native
rows+=(',' native@2 bin/native ',' build-native@2 bin/build-native)
if command -v docker-compose >/dev/null && start_docker && tar -C root -c . | docker import - busybox:latest >/dev/null; then
	mkdir compose
	cat >compose/docker-compose.yaml <<END
services:
  main:
    image: busybox:latest
    network_mode: none
    command: ["sh", "-c", "mkdir -p /app /logs/verifier; sleep infinity"]
    volumes: ["$(cd "$task" && pwd):/task:ro"]
END
	cat >bin/compose <<'END'
#!/bin/sh
c="docker-compose -p bench$$ -f compose/docker-compose.yaml"
$c up -d >/dev/null 2>&1 && $c exec -T main sh /task/solution/solve.sh && $c exec -T main sh /task/tests/test.sh && $c exec -T main cat /logs/verifier/reward.txt >/dev/null
$c down -t 0 >/dev/null 2>&1
END
	printf '#!/bin/sh\nexec docker build -q build >/dev/null 2>&1\n' >bin/build-docker
	rows+=(',' compose@20 bin/compose ',' build-docker@2 bin/build-docker)
else
	echo "- not measured: Docker Compose: there is no engine, or no docker-compose"
fi
chmod +x bin/*
for f in bin/*; do timeout 120 "$f" || echo "- $f failed"; done

out=$BENCH_TMP/task.tsv
"$SPAWN" -r "$BENCH_ROUNDS" "${rows[@]}" >"$out" || exit 2
echo "#### Benchmark tasks, as $who"
echo
echo '| | runs | median, ms | 10 % | 90 % |'
echo '|---|--:|--:|--:|--:|'
while IFS=$'\t' read -r name n median p10 p90 _; do
	[ "$n" != failed ] || { echo "| $name failed: $median | | | | |"; continue; }
	case $name in
	plain) what='`/bin/true`, plain' ;;
	check) what='`cordon task check`' ;;
	native) what='**`cordon task run`, native**' ;;
	compose) what='docker-compose up, exec, exec, down' ;;
	build-native) what='**a build of four steps made before, native**' ;;
	build-docker) what='the same by docker build' ;;
	esac
	printf '| %s | %s | %s |\n' "$what" "$n" "$(awk -v a="$median" -v b="$p10" -v c="$p90" 'BEGIN { printf "%.2f | %.2f | %.2f", a / 1000, b / 1000, c / 1000 }')"
	row task "$name" runs "$n" median_us "$median" p10_us "$p10" p90_us "$p90"
done <"$out"
echo
bar task "task check" "$(ratio "$(field "$out" check 3)" 1000)" 20 ms
[ -z "$(field "$out" compose 3)" ] || bar task "task run / compose" "$(ratio "$(field "$out" native 3)" "$(field "$out" compose 3)")" 0.1
[ -z "$(field "$out" build-docker 3)" ] || bar task "cached build / docker build" "$(ratio "$(field "$out" build-native 3)" "$(field "$out" build-docker 3)")" 0.2
bench_end
