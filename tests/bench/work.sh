#!/bin/bash
# work.sh: work inside a sandbox beside the same work outside. Run by run.sh; BENCH_SOURCE is a folder with base/*.c to compile.
set -u
. "$(dirname "$0")/lib.sh"
files=20000
profile=${BENCH_PROFILE:-default}

mkdir -p "$BENCH_TMP/compile/out" "$BENCH_TMP/repo" || exit 2
cp -r "$BENCH_SOURCE/base" "$BENCH_TMP/compile/" || exit 2
cat >"$BENCH_TMP/compile/build.sh" <<'EOF'
for f in base/*.c; do
	gcc -std=gnu17 -D_GNU_SOURCE -I. -O2 -c "$f" -o "out/$(basename "$f").o" || exit 1
done
EOF

# A repository with as many files, all of them committed.
cd "$BENCH_TMP/repo" || exit 2
for ((d = 0; d < files / 100; d++)); do
	mkdir -p "d$d"
	for ((f = 0; f < 100; f++)); do
		echo "$d $f" >"d$d/f$f"
	done
done
git init -q . && git add . && git -c user.name=bench -c user.email=bench@example.com -c gc.auto=0 commit -q -m 'all files' || exit 2
sleep 1.1 && git update-index --refresh # so that no entry is as young as the index, which would be read again each time
# An index remembers the uid that it saw, which is another inside: without an index of its own, the inside would read every file each time.
cp -r "$BENCH_TMP/repo" "$BENCH_TMP/repo-inside" && cd "$BENCH_TMP/repo-inside" || exit 2
git update-index --refresh
# (With the default profile, since a copy's index is gone after the run.)
"$CORDON" run --profile default -- git -c safe.directory='*' status --porcelain

# beside NAME FOLDER FOLDER_INSIDE ROUNDS CMD...: fills $out. A shell goes to the folder on both sides.
out=$BENCH_TMP/work.tsv
: >"$out"
beside()
{
	local name=$1 outside=$2 inside=$3 rounds=$4
	shift 4
	"$SPAWN" -w 1 -r "$rounds" "$name outside" sh -c 'cd "$0" && exec "$@"' "$outside" "$@" , \
		"$name inside" sh -c 'cd "$0" && exec "$@"' "$inside" "$CORDON" run --profile "$profile" -- "$@" >>"$out"
}
beside "compile" "$BENCH_TMP/compile" "$BENCH_TMP/compile" $((BENCH_ROUNDS / 20 + 3)) sh build.sh
# Ten in a row, because a start is measured elsewhere.
beside "git status" "$BENCH_TMP/repo" "$BENCH_TMP/repo-inside" $((BENCH_ROUNDS / 10 + 5)) sh -c \
	'for i in 1 2 3 4 5 6 7 8 9 10; do git -c safe.directory="*" --no-optional-locks status --porcelain || exit 1; done'

# Names that are made inside pass PID 1: what that costs at its worst, in scratch space, where making one costs least.
made=2000
(mkdir -p "$BENCH_TMP/many" && cd "$BENCH_TMP/many" && for ((f = 0; f < made; f++)); do echo "$f" >"f$f"; done && tar cf "$BENCH_TMP/compile/many.tar" .) || exit 2
beside "unpack" "$BENCH_TMP/compile" "$BENCH_TMP/compile" $((BENCH_ROUNDS / 20 + 3)) sh -c 'd=$(mktemp -d -p /dev/shm) && tar xf many.tar -C "$d"; rm -rf "$d"'

echo "#### Work inside and outside (profile $profile), as $who"
echo
echo '| work | runs | outside, ms | inside, ms | ratio |'
echo '|---|--:|--:|--:|--:|'
for name in "compile" "git status" "unpack"; do
	a=$(field "$out" "$name outside" 3)
	b=$(field "$out" "$name inside" 3)
	r=$(ratio "$b" "$a")
	what="\`gcc -O2\` of $(find "$BENCH_TMP/compile/base" -name '*.c' | wc -l) files"
	[ "$name" != "git status" ] || what="10 times \`git status\`, $files files"
	[ "$name" != unpack ] || what="\`tar x\` of $made small files to memory"
	printf '| %s | %s | %s | %s |\n' "$what" "$(field "$out" "$name outside" 2)" \
		"$(awk -v a="${a:-0}" -v b="${b:-0}" 'BEGIN { printf "%.1f | %.1f", a / 1000, b / 1000 }')" "${r:-failed}"
	row work "$name" outside_us "${a:-none}" inside_us "${b:-none}" ratio "${r:-none}"
done
echo
for name in "compile" "git status"; do
	bar work "$name inside / outside" "$(ratio "$(field "$out" "$name inside" 3)" "$(field "$out" "$name outside" 3)")" 1.05
done
awk -F '\t' '$2 == "failed" { print "- " $1 ": " $3 }' "$out"
bench_end
