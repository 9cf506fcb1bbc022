#!/bin/bash
# policy.sh: how long a policy of 10,000 rules takes to load, without a cache. Run by run.sh.
set -u
. "$(dirname "$0")/lib.sh"
cd "$BENCH_TMP" || exit 2
export XDG_CACHE_HOME=/nonexistent # a cache that cannot be written is passed over
rules=10000

awk -v n=$rules 'BEGIN {
	print "version: 1\nfilesystem:\n  workdir: read-write\nnetwork:\n  mode: allowlist\n  allow:"
	for (i = 0; i < n; i++) {
		if (i % 4 == 0) printf "    - host: h%d.example.com\n", i
		if (i % 4 == 1) printf "    - host: \"*.h%d.example.org\"\n      ports: [443, %d]\n", i, 1024 + i
		if (i % 4 == 2) printf "    - host: h%d.example.net\n      methods: [GET, HEAD]\n      paths: [\"/simple/**\", \"/p%d/*\"]\n", i, i
		if (i % 4 == 3) printf "    - cidr: 10.%d.%d.0/24\n      ports: [5432]\n", i / 256, i % 256
	}
}' >big.yaml
printf 'version: 1\nfilesystem:\n  workdir: read-write\nnetwork:\n  mode: none\n' >small.yaml
out=policy.tsv
"$SPAWN" -r $((BENCH_ROUNDS / 4 + 5)) small "$CORDON" policy check small.yaml , big "$CORDON" policy check big.yaml >"$out"
small=$(field "$out" small 3)
big=$(field "$out" big 3)
echo "#### A policy of $rules rules ($(($(stat -c %s big.yaml) / 1024)) KiB), loaded without a cache, as $who"
echo
echo '| policy | median, ms | 90 % |'
echo '|---|--:|--:|'
while IFS=$'\t' read -r name n median p10 p90 ratio; do
	if [ "$n" = failed ]; then
		echo "| $name | failed: $median | |"
		row policy "$name" failed "$median"
		continue
	fi
	printf '| %s | %s |\n' "$([ "$name" = big ] && echo "$rules rules" || echo 'one rule: the start of the program')" \
		"$(awk -v a="$median" -v b="$p90" 'BEGIN { printf "%.2f | %.2f", a / 1000, b / 1000 }')"
	row policy "$name" runs "$n" median_us "$median" p10_us "$p10" p90_us "$p90" ratio "$ratio"
done <"$out"
echo
load=
[ -z "$small" ] || [ -z "$big" ] || load=$(awk -v a="$big" -v b="$small" 'BEGIN { printf "%.1f", (a - b) / 1000 }')
bar policy "loading $rules rules" "$load" 50 ms
bench_end
