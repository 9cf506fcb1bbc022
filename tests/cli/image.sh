#!/bin/bash
# The image store: what can be imported, what comes of it, and what hostile archives cannot do.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../docker_lib.sh"
export XDG_DATA_HOME=$tmp/data
store=$XDG_DATA_HOME/cordon/images
images() { "$CORDON" image "$@"; }

# What belongs to other ids is Cordon's to remove.
image_cleanup()
{
	stop_engine
	"$CORDON" image ls --json 2>/dev/null | python3 -c 'import json,sys
for i in json.load(sys.stdin): print(i["digest"])' | xargs -r "$CORDON" image rm 2>/dev/null
	tap_cleanup
}
trap image_cleanup EXIT

if ! unshare -U true 2>/dev/null; then
	skip "images" "user namespaces cannot be made here"
	finish
fi

mkdir -p "$tmp/root"/{bin,etc,tmp,home/u}
chmod 1777 "$tmp/root/tmp"
printf '#!/bin/sh\necho hello\n' >"$tmp/root/bin/hello"
chmod 4755 "$tmp/root/bin/hello"
ln "$tmp/root/bin/hello" "$tmp/root/bin/other"
ln -s hello "$tmp/root/bin/link"
ln -s /etc/absent "$tmp/root/etc/dangling"
printf 'x\n' >"$tmp/root/etc"/$'odd\nname'
mkfifo "$tmp/root/etc/fifo"
tar -C "$tmp/root" -cf "$tmp/root.tar" .
count=$(images import ids-probe "$tmp/root.tar" 2>/dev/null >/dev/null && images inspect ids-probe --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["ids"]["count"])')

# layer NAME [NUMBER]: the path of an image's layer, 0 is the topmost.
layer() { images inspect "$1" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["paths"][int(sys.argv[1])])' "${2:-0}"; }
config() { images inspect "$1" --json | python3 -c 'import json,sys; print(json.dumps(json.load(sys.stdin)["config"][sys.argv[1]]))' "$2"; }
# The tree as text: kinds, modes, sizes, targets.
tree() { (cd "$1" && find . -printf '%p|%y|%m|%n|%l\n' | LC_ALL=C sort | grep -v '^\.|' | sed -E 's/^(.*\|d\|[0-9]+)\|[0-9]+/\1/'); }
setid_off() { sed 's/|4755|/|755|/'; }
# Nothing half-made is left.
nothing_left() { [ -z "$(ls "$store/tmp" 2>/dev/null)" ] || { ls "$store/tmp"; return 1; }; }
layers_there() { find "$store/layers" -mindepth 1 -maxdepth 1 | wc -l; }
store_is_private() { [ "$(stat -c %a "$store")" = 700 ]; }

want=$(tree "$tmp/root")
[ "$count" = 1 ] && want=$(tree "$tmp/root" | setid_off)

is "a tar of a root becomes a layer with the same tree" "$(tree "$(layer ids-probe)")" "$want"
like "an import prints the image's digest" "$(images import folder "$tmp/root" 2>/dev/null)" '^sha256:[0-9a-f]{64}$'
is "a root folder becomes a layer with the same tree" "$(tree "$(layer folder)")" "$want"
is "a folder that did not change has the same digest again" "$(images import again "$tmp/root" 2>/dev/null)" "$(images import folder "$tmp/root" 2>/dev/null)"
is "as has the archive from standard input" "$(images import stdin - <"$tmp/root.tar" 2>/dev/null)" "$(images import ids-probe "$tmp/root.tar" 2>/dev/null)"
for z in gzip bzip2 xz zstd; do
	if command -v $z >/dev/null; then
		$z -c "$tmp/root.tar" >"$tmp/root.tar.$z"
		is "and the same compressed with $z" "$(images import "z-$z" "$tmp/root.tar.$z" 2>/dev/null)" "$(images import ids-probe "$tmp/root.tar" 2>/dev/null)"
	else
		skip "and the same compressed with $z" "there is no $z"
	fi
done
ok "the store is the user's alone" store_is_private
is "one layer is kept once" "$(layers_there)" 2
if [ "$(id -u)" = 0 ]; then
	is "root's images belong to ids that nobody has" "$(stat -c %u "$(layer folder)/bin/hello")" 1700000000
	chown 1000:1000 "$tmp/root/home/u"
	images import owned "$tmp/root" >/dev/null 2>&1
	is "and users of images to others of them" "$(stat -c %u "$(layer owned)/home/u")" 1700001000
fi

is "names are Docker's" "$(images inspect docker.io/library/folder:latest | sed -n 's/^name *//p' | tr '\n' ' ')" "docker.io/library/again:latest docker.io/library/folder:latest "
like "a name that is none is refused" "$(images import 'Not A Name' "$tmp/root.tar" 2>&1)" 'image name'
like "an image that is not here: what to do" "$(images inspect absent 2>&1)" 'docker save absent:latest \| cordon image import'
like "ls lists names and digests" "$(images ls)" 'folder:latest +[0-9a-f]{12} '
ok "ls --json is JSON" python3 -c 'import json,sys; assert all(i["digest"] and i["layers"] for i in json.loads(sys.argv[1]))' "$(images ls --json)"
like "an empty file is no image" "$(images import empty /dev/null 2>&1)" 'empty'
like "nor is a file of text" "$(images import text "$0" 2>&1)" 'no tar archive'

# ---- OCI layouts ----

manifest=$(python3 "$tests_dir/image/layout.py" "$tmp/oci")
ok "an OCI layout is imported from its folder" images import oci:1 "$tmp/oci"
tar -C "$tmp/oci" -cf "$tmp/oci.tar" .
is "and from an archive of it" "$(images import oci:2 "$tmp/oci.tar" 2>/dev/null)" "$(images import oci:1 "$tmp/oci" 2>/dev/null)"
is "and from a compressed one" "$(gzip -c "$tmp/oci.tar" | images import oci:3 - 2>/dev/null)" "$(images import oci:1 "$tmp/oci" 2>/dev/null)"
is "its digest is that of its config" "$(images import oci:1 "$tmp/oci" 2>/dev/null)" \
	"$(python3 -c 'import json,sys; m=json.load(open(sys.argv[1]+"/blobs/sha256/"+sys.argv[2][7:])); print(m["config"]["digest"])' "$tmp/oci" "$manifest")"
ok "it can be found by its manifest's digest" images inspect "oci@$manifest"
is "environment" "$(config oci:1 env)" '["PATH=/bin", "A=b=c"]'
is "command" "$(config oci:1 command)" '["one", "two words"]'
is "work folder, made clean" "$(config oci:1 workdir)" '"/work"'
is "shell and instructions for builders" "$(config oci:1 shell) $(config oci:1 on_build)" '["/bin/bash", "-c"] ["RUN true"]'
is "what an upper layer takes away is overlayfs's whiteout" "$(stat -c '%F %t:%T' "$(layer oci:1)/etc/a")" "character special file 0:0"
is "and an opaque folder its attribute" "$(python3 -c 'import os,sys; print(os.getxattr(sys.argv[1], "user.overlay.opaque").decode())' "$(layer oci:1)/full")" y
is "the lower layer has what it had" "$(cat "$(layer oci:1 1)/etc/a")" a
mounted()
{
	mkdir -p "$tmp/ov"
	# shellcheck disable=SC2016 # of the shell in there
	unshare -m sh -c 'mount -t overlay overlay -o "userxattr,lowerdir=$1:$2" "$3" && cd "$3" && ls etc full | tr "\n" " "' sh "$(layer oci:1)" "$(layer oci:1 1)" "$tmp/ov" 2>&1
}
if [ "$(id -u)" = 0 ]; then
	is "mounted over each other they show what the image has" "$(mounted)" "etc: b c  full: y "
fi
for change in blob diff-id config manifest arch layers traverse json controls two; do
	rm -rf "$tmp/bad"
	python3 "$tests_dir/image/layout.py" "$tmp/bad" $change >/dev/null
	# a layer that is here already need not be unpacked: it is not, in a store of its own
	out=$(XDG_DATA_HOME=$tmp/fresh images import bad "$tmp/bad" 2>&1)
	case $change in
	blob | config | manifest | diff-id) like "a layout whose $change was changed is refused" "$out" 'damaged or was changed|compressed data is damaged' ;;
	arch) like "a layout for another machine is refused" "$out" 'is for linux/s390x' ;;
	layers) like "as is one whose config knows other layers" "$out" 'has 2 layers, and its config speaks of 1' ;;
	two) like "where there are two images, the name decides" "$out" 'there are 2 images in it' ;;
	*) like "as is one with bad $change" "$out" '^cordon: import: ' ;;
	esac
done
python3 "$tests_dir/image/layout.py" "$tmp/bad2" two >/dev/null
ok "and the one of that name is taken" env XDG_DATA_HOME="$tmp/fresh" "$CORDON" image import x:one "$tmp/bad2"
like "a name with a digest is a promise" "$(images import "oci@sha256:$(printf '0%.0s' {1..64})" "$tmp/oci" 2>&1)" 'the name says'
mkdir -p "$tmp/plain/bin" && echo x >"$tmp/plain/bin/x"
like "... which a plain folder cannot keep" "$(images import "plain@sha256:$(printf '0%.0s' {1..64})" "$tmp/plain" 2>&1; echo $?)" 'a plain tree of files.*125$'

ln -sfn /etc/passwd "$tmp/bad2/blobs/sha256/${manifest#sha256:}"
like "links that leave a layout are not followed" "$(XDG_DATA_HOME=$tmp/fresh images import y:one "$tmp/bad2" 2>&1)" '^cordon: import: '
XDG_DATA_HOME=$tmp/fresh images rm x:one 2>/dev/null

gone_with_its_name()
{
	env XDG_DATA_HOME="$tmp/fresh" "$CORDON" image import z "$tmp/oci" >/dev/null 2>&1
	env XDG_DATA_HOME="$tmp/fresh" "$CORDON" image rm z 2>/dev/null
	[ -z "$(find "$tmp/fresh/cordon/images"/{layers,images,names} -mindepth 1)" ]
}
ok "an image goes with its last name, the one by digest too" gone_with_its_name

# ---- hostile archives ----

mkdir -p "$tmp/e/outside"
echo secret-of-the-host >"$tmp/e/secret"
echo kept >"$tmp/e/outside/kept"
python3 "$tests_dir/image/evil.py" "$tmp/evil" "$tmp/e/secret" "$tmp/e/outside"
naive_attack()
{
	rm -rf "$tmp/e/work" && mkdir "$tmp/e/work"
	python3 "$tests_dir/image/naive.py" "$tmp/evil/$1.tar" "$tmp/e/work" >/dev/null 2>&1
	if [ "$2" = link ]; then
		grep -q secret-of-the-host "$tmp/e/work/h"
	else
		[ -e "$tmp/e/outside/$2" ] && rm -rf "${tmp:?}/e/outside/$2"
	fi
}
unharmed()
{
	[ "$(cat "$tmp/e/secret")" = secret-of-the-host ] && [ "$(ls -A "$tmp/e/outside")" = kept ] && [ "$(stat -c %h "$tmp/e/secret")" = 1 ] && nothing_left
}
refused_unharmed()
{
	[[ $said = "cordon: import: "* ]] && unharmed
}
while read -r name what; do
	ok "the attack $name works on an unpacker that believes it" naive_attack "$name" "$what"
done <"$tmp/evil/naive.txt"
rm -rf "$tmp/e/work"
n_before=$(layers_there)
for f in "$tmp/evil"/*.tar*; do
	name=${f##*/}
	name=${name%%.tar*}
	# what takes its own link's place is a file of the image, and no harm
	[ "$name" = dangling-link-then-file ] && continue
	said=$(images import "evil:$name" "$f" 2>&1)
	ok "$name is refused, and nothing is harmed or left: ${said#cordon: import: }" refused_unharmed
done
is "none of them left a layer" "$(layers_there)" "$n_before"
images import evil:dangling "$tmp/evil/dangling-link-then-file.tar" >/dev/null 2>&1
is "a file takes a link's place, and does not go through it" "$(stat -c %F "$(layer evil:dangling)/f"; unharmed && echo unharmed)" "regular file
unharmed"


# A file that is all holes on the disk is as little as what is in it.
python3 - "$tmp/holes.tar" <<'EOF2'
import sys, tarfile
size = 1200 << 20
i = tarfile.TarInfo("zeros"); i.size = size
with open(sys.argv[1], "wb") as f:
    f.write(i.tobuf(tarfile.USTAR_FORMAT)); f.truncate(512 + size + 1024)
EOF2
if [ "$(stat -c %b "$tmp/holes.tar")" -lt 1000 ]; then
	like "an archive that is a hole on the disk is refused" "$(images import holes "$tmp/holes.tar" 2>&1)" 'a bomb'
	ok "... and leaves nothing" nothing_left
else
	skip "an archive that is a hole on the disk is refused" "files have no holes here"
fi
rm "$tmp/holes.tar"
python3 - "$tmp/zeros" <<'EOF2'
import os, sys
os.makedirs(sys.argv[1] + "/etc")
with open(sys.argv[1] + "/etc/zeros", "wb") as f:
    f.write(b"begin" + bytes(5 << 20) + b"middle" + bytes((7 << 20) + 123))
EOF2
tar -C "$tmp/zeros" -czf "$tmp/zeros.tgz" .
images import zeros "$tmp/zeros.tgz" >/dev/null 2>&1
is "zeros take no room, and are there" "$(cmp "$(layer zeros)/etc/zeros" "$tmp/zeros/etc/zeros" && [ "$(stat -c %b "$(layer zeros)/etc/zeros")" -lt 2000 ] && echo same)" same

# What is legitimate, though odd.
python3 - "$tmp/odd.tar" <<'EOF2'
import sys; sys.argv = ["", "/nonexistent", "s", "o"] + sys.argv[1:]
import importlib.util, io, os, tarfile
t = tarfile.open(sys.argv[4], "w", format=tarfile.PAX_FORMAT)
def add(name, type=tarfile.REGTYPE, data=b"", **k):
    i = tarfile.TarInfo(name); i.type = type; i.size = len(data); i.mtime = 1600000000
    for a, b in k.items(): setattr(i, a, b)
    t.addfile(i, io.BytesIO(data))
add("./", tarfile.DIRTYPE, mode=0o700)
add("./d", tarfile.DIRTYPE, mode=0o000)
add("./d/in-a-folder-of-mode-0", data=b"1")
add("twice", data=b"first")
add("twice", data=b"second!")
add("linked", data=b"original")
add("hard", tarfile.LNKTYPE, linkname="linked")
add("hard", data=b"replaced")
add("was-a-folder", tarfile.DIRTYPE, mode=0o755)
add("was-a-folder", tarfile.SYMTYPE, linkname="d")
add("was-a-link", tarfile.SYMTYPE, linkname="/")
add("was-a-link", tarfile.DIRTYPE, mode=0o755)
add("was-a-link/x", data=b"x")
add("null", tarfile.CHRTYPE, devmajor=1, devminor=3)
add("zero", tarfile.CHRTYPE, devmajor=0, devminor=0)
add("disk", tarfile.BLKTYPE, devmajor=8, devminor=0)
add("no/parents/here", data=b"x")
add("n" * 200 + "/" + "m" * 255, data=b"long")
add("attributes", data=b"x", pax_headers={"SCHILY.xattr.user.fine": "yes", "SCHILY.xattr.security.capability": "\x01\x00\x00\x02\x00\x00\x00\x00", "SCHILY.xattr.trusted.overlay.opaque": "y", "SCHILY.xattr.user.overlay.redirect": "/etc", "SCHILY.xattr.user.overlay.metacopy": ""})
add("large-id", data=b"x", uid=400000, gid=400000)
add("other", data=b"x", uid=1234, gid=1234)
add("gone-then-made/.wh.x"); add("gone-then-made/x", data=b"x")
add("made-then-gone/x", tarfile.DIRTYPE, mode=0o755); add("made-then-gone/.wh.x")
add("\xff\xfe-bytes".encode("latin1").decode("utf-8", "surrogateescape"), data=b"x")
t.close()
EOF2
out=$(images import odd "$tmp/odd.tar" 2>&1)
odd=$(layer odd)
like "device nodes are left out, and said so" "$out" '3 device nodes were left out'
is "they are not there" "$(ls -d "$odd"/{null,zero,disk} 2>/dev/null)" ""
like "as are attributes that are not a user's" "$out" '4 extended attributes were left out'
is "a user's attribute is kept" "$(python3 -c 'import os,sys; print(os.listxattr(sys.argv[1]))' "$odd/attributes")" "['user.fine']"
is "the second of two entries stands" "$(cat "$odd/twice")" 'second!'
is "a file over a hard link does not change what it was linked to" "$(cat "$odd/linked") $(cat "$odd/hard")" "original replaced"
is "a link takes an empty folder's place, a folder a link's" "$(readlink "$odd/was-a-folder") $(ls "$odd/was-a-link")" "d x"
is "a whiteout is about what lies below, before and behind its name" "$(cat "$odd/gone-then-made/x") $(stat -c %F "$odd/made-then-gone/x") $(python3 -c 'import os,sys; print(os.getxattr(sys.argv[1], "user.overlay.opaque").decode())' "$odd/made-then-gone/x")" "x directory y"
is "names of 200 and 255 bytes" "$(cat "$odd"/nnn*/mmm*)" long
is "a folder of mode 0 has its file" "$(stat -c %a "$odd/d")" 0
is "times are kept, of folders too" "$(stat -c %Y "$odd/twice" "$odd/was-a-link" "$odd" | sort -u)" 1600000000
if [ "$count" = 1 ]; then
	like "with one id, all is said to be one's own" "$out" 'belong to other users in the image'
else
	like "ids that do not exist here are nobody's" "$out" '1 files with user ids beyond 65535'
	if [ "$(id -u)" = 0 ]; then
		is "on disk, too" "$(stat -c %u "$odd/large-id" "$odd/other" | tr '\n' ' ')" "1700065534 1700001234 "
	fi
fi
if [ "$(id -u)" = 0 ]; then
	mkdir -p "$tmp/special/etc" && mknod "$tmp/special/etc/null" c 1 3 && python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$tmp/special/etc/sock"
	like "a folder's devices and sockets are left out" "$(images import special "$tmp/special" 2>&1)" '2 sockets, device nodes'
	is "what is left is the folder" "$(ls "$(layer special)/etc")" ""
fi
mkdir -p "$tmp/wh/etc" && : >"$tmp/wh/etc/.wh.passwd"
like "a folder with a whiteout's name in it is refused" "$(images import wh "$tmp/wh" 2>&1)" '\.wh\.'

# ---- the unpacker itself ----

unpack=${CORDON%/*}/cordon-unpack
if nm "$unpack" 2>/dev/null | grep -q ' T main$' && ! nm "$unpack" | grep -q asan; then
	is "the unpacker can make no connection and start no program" "$(nm "$unpack" | grep -E ' [TW] (connect|execve|system|getaddrinfo|posix_spawn)$')" ""
	is "the supervisor has no decompressor and no reader of archives" "$(nm "$CORDON" 2>/dev/null | grep -E ' T (inflate|lzma_code|BZ2_bzDecompress|ZSTD_decompressStream|tar_next)$')" ""
fi

# What the two processes have while they wait for bytes, as text.
confinement()
{
	local pid p
	mkfifo "$tmp/waiting"
	"$CORDON" image import waiting - <"$tmp/waiting" >/dev/null 2>&1 &
	pid=$!
	exec 9>"$tmp/waiting"
	gzip -c "$tmp/root.tar" | head -c 200 >&9
	for _ in $(seq 100); do
		[ "$(pgrep -c -P $pid)" = 2 ] && break
		sleep 0.05
	done
	sleep 0.2
	for p in $(pgrep -P $pid); do
		[ "$(tr '\0' ' ' <"/proc/$p/cmdline" | cut -d' ' -f2)" = "$1" ] || continue
		grep -E '^(Seccomp|NoNewPrivs|CapEff|CapPrm):' "/proc/$p/status" | tr -s '\t\n' ' '
		[ "$(id -u)" = 0 ] && find "/proc/$p/fd" -mindepth 1 | wc -l
		tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -c .
	done
	kill -9 $pid
	wait $pid 2>/dev/null
	exec 9>&-
	rm "$tmp/waiting"
}
if [ "$(id -u)" = 0 ] && nm "$unpack" 2>/dev/null | grep -q ' T main$' && ! nm "$unpack" | grep -q asan; then
	like "the decompressor has no capability, six descriptors, a filter and no variables" "$(confinement decompress)" '^CapPrm: 0+ CapEff: 0+ NoNewPrivs: 1 Seccomp: 2 6
0$'
	like "the unpacker has what making files of others needs, in its namespace" "$(confinement tar)" '^CapPrm: 0+1b CapEff: 0+1b NoNewPrivs: 1 Seccomp: 2 [678]
0$'
fi

# ---- several at once, and removal ----

parallel_imports()
{
	local i pids=()
	for i in 1 2 3 4 5 6; do
		images import "par:$i" "$tmp/root.tar" >/dev/null 2>&1 &
		pids+=($!)
		images import "par:x$i" "$tmp/root" >/dev/null 2>&1 &
		pids+=($!)
		images rm "par:$((i - 1))" >/dev/null 2>&1 &
	done
	for i in "${pids[@]}"; do wait "$i" || return 1; done
	wait
	nothing_left && images inspect par:x6 >/dev/null
}
ok "imports and removals at the same time do not harm each other" parallel_imports
killed_import()
{
	local pid
	mkfifo "$tmp/fifo"
	"$CORDON" image import killed - <"$tmp/fifo" >/dev/null 2>&1 &
	pid=$!
	exec 9>"$tmp/fifo"
	head -c 4096 "$tmp/root.tar" >&9
	for _ in $(seq 100); do
		[ -n "$(ls "$store/tmp"/*/upper 2>/dev/null)" ] && break
		sleep 0.05
	done
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	exec 9>&-
	[ -n "$(ls "$store/tmp")" ] || { echo "nothing was half-made"; return 1; }
	! images inspect killed 2>/dev/null || return 1
	images import after "$tmp/root.tar" && nothing_left
}
ok "what a killed import left is removed by the next one" killed_import
in_use()
{
	local path
	images import used "$tmp/evil/dangling-link-then-file.tar" >/dev/null 2>&1
	images rm evil:dangling >/dev/null 2>&1
	path=$(layer used)
	exec 8<"$path"
	flock -s 8
	images rm used 2>/dev/null
	[ -d "$path" ] || { echo "removed while in use"; return 1; }
	exec 8<&-
	images import other "$tmp/root.tar" >/dev/null 2>&1
	images rm other after 2>/dev/null
	[ ! -e "$path" ] || { echo "still there"; return 1; }
}
ok "a layer that somebody uses stays until nobody does" in_use
damaged()
{
	local d
	d=$(images import damaged "$tmp/root.tar" 2>/dev/null)
	printf x >>"$store/images/sha256-${d#sha256:}"
	images inspect damaged 2>&1 | grep -q 'is damaged' && images rm "$d" 2>/dev/null && ! images inspect damaged 2>/dev/null
}
ok "an image whose record was damaged says so, and can be removed" damaged
for name in zeta alpha/two beta:2 beta:1; do images import "$name" "$tmp/root.tar" >/dev/null 2>&1; done
is "images are listed by their names" "$(images ls | awk '{ print $1 }' | grep -E '^(alpha|beta|zeta)' | tr '\n' ' ')" "alpha/two:latest beta:1 beta:2 zeta:latest "
sorted() { python3 -c 'import json, sys; n = [i["names"][0] if i["names"] else "~" for i in json.load(sys.stdin)]; sys.exit(n != sorted(n))'; }
ok "as JSON, too" sorted < <(images ls --json)
like "a name that is not there cannot be removed" "$(images rm absent 2>&1)" '^cordon: there is no image absent here; `cordon image ls` lists those that are$'
images ls --json | python3 -c 'import json,sys
for i in json.load(sys.stdin): print(i["digest"][7:20])' | xargs -r "$CORDON" image rm 2>/dev/null
is "all can be removed by the beginning of their digests" "$(find "$store"/{layers,names,images,sizes,tmp} -mindepth 1)" ""

# ---- what a real Docker Engine writes ----

start_engine "docker save"
trap image_cleanup EXIT
tar -C "$tmp/root" -cf - . | docker import -c 'ENV A=b' -c 'CMD ["/bin/hello"]' -c 'WORKDIR /srv' - saved:1 >/dev/null
mkdir -p "$tmp/ctx" && printf 'FROM saved:1\nCOPY f /etc/f\n' >"$tmp/ctx/Dockerfile" && echo f >"$tmp/ctx/f"
DOCKER_BUILDKIT=0 docker build -q -t saved:2 "$tmp/ctx" >/dev/null 2>&1
docker save saved:2 >"$tmp/saved.tar"
is "what docker save writes is imported under the digest that Docker has for it" "$(images import saved:2 "$tmp/saved.tar" 2>/dev/null)" "$(docker image inspect -f '{{.Id}}' saved:2)"
is "with its config" "$(config saved:2 env) $(config saved:2 command) $(config saved:2 workdir)" '["A=b", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"] ["/bin/hello"] "/srv"'
is "and its layers" "$(cat "$(layer saved:2)/etc/f")" f
docker save saved:1 saved:2 | gzip >"$tmp/both.tar.gz"
is "of two images in an archive, the one of that name" "$(images import saved:1 "$tmp/both.tar.gz" 2>/dev/null)" "$(docker image inspect -f '{{.Id}}' saved:1)"
like "and none where no name fits" "$(images import saved:3 "$tmp/both.tar.gz" 2>&1)" 'there are 2 images in it'
finish
