#!/bin/bash
# Native builds of small images: what comes out, what is cached, and what a hostile Dockerfile or context cannot reach. RUN is a chroot here (tests/tools/build_drive.c); sandboxed ones are tested with the task runner.
. "$(dirname "$0")/../lib.sh"

busybox=$(command -v busybox) && ! ldd "$busybox" >/dev/null 2>&1 || { skip "builds" "no static busybox"; finish; }
export XDG_DATA_HOME=$tmp/data
bin=$tmp/bin
mkdir -p "$bin" "$XDG_DATA_HOME"
# helpers are looked for beside the program
cp "$CORDON_BUILD/tests/build-drive" "$CORDON_BUILD/cordon-unpack" "$bin/"

drive() { timeout 60 "$bin/build-drive" "$@" 2>&1; }

# A file of the image that was built, with mode and owner.
show() { drive cat built "$1"; }

tap_cleanup()
{
	# layers may belong to ids that only their own root can remove
	[ -d "$XDG_DATA_HOME/cordon" ] && drive forget >/dev/null
	chmod -R u+rwx "$tmp" 2>/dev/null
	rm -rf -- "$tmp"
}

make_base()
{
	local root=$tmp/base c
	mkdir -p "$root"/{bin,etc,tmp,root,usr/lib,home/app}
	cp "$busybox" "$root/bin/busybox"
	for c in sh ls cat echo mkdir id chmod chown rm printf cp ln touch env pwd test true truncate; do ln -s busybox "$root/bin/$c"; done
	ln -s usr/lib "$root/lib"
	ln -s /../../../../../../etc "$root/up"
	printf 'root:x:0:0::/root:/bin/sh\napp:x:1000:1001::/home/app:/bin/sh\n' >"$root/etc/passwd"
	printf 'root:x:0:\napp:x:1001:\nstaff:x:50:\n' >"$root/etc/group"
	chmod 1777 "$root/tmp"
	drive import base "$root"
}

# Writes the Dockerfile from standard input into a fresh context, and builds it.
context=$tmp/context
fresh() { rm -rf "$context"; mkdir -p "$context"; }
build() { cat >"$context/Dockerfile"; drive build "$context" Dockerfile "$@"; }

like "a base is imported" "$(make_base)" '^sha256:'
ids=$(drive ids)

fresh
mkdir -p "$context/src/sub"
echo one >"$context/src/one.txt"
echo two >"$context/src/sub/two.o"
echo tool >"$context/src/tool"
chmod 755 "$context/src/tool"
ln -s one.txt "$context/src/link"
out=$(build GIVEN=arg <<'D'
FROM base
ARG GIVEN
WORKDIR /work
COPY src ./s/
COPY --chown=app:staff --chmod=0640 src/one.txt /lib/one
ENV X="a b"
RUN echo "$X $GIVEN" >x && echo $HOME >>x && pwd >>x
COPY <<A <<"B" /h/
$X \$X
A
$X
B
ENTRYPOINT ["/bin/sh"]
CMD ["-c", "id"]
D
)
like "a build ends with an image" "$out" 'sha256:[0-9a-f]{64}'
is "folders are copied with their modes, links as links" "$(show /work/s/tool) $(show /work/s/link)" "100755 0:0 tool 120777 0:0 one.txt"
if [ "$ids" = 1 ]; then
	like "with one id an owner is not given, and that is said" "$out" 'note: there is one user id'
	is "--chmod is heeded" "$(show /usr/lib/one)" "100640 0:0 one"
else
	is "--chown knows the image's names, --chmod is heeded, and a link of the image at the destination is followed inside it" "$(show /usr/lib/one)" "100640 1000:50 one"
fi
is "a link of the image stays one" "$(show /lib)" "120777 0:0 usr/lib"
is "RUN has variables, home and work folder" "$(show /work/x)" "100644 0:0 a b arg
/root
/work"
is "a heredoc is expanded where its word has no quotes" "$(show /h/A)" '100644 0:0 a b $X'
is "and not where it has" "$(show /h/B)" '100644 0:0 $X'
like "the image says what is run" "$(drive config built)" 'entrypoint: /bin/sh
command: -c id
workdir: /work'

again=$(drive build "$context" Dockerfile GIVEN=arg)
like "a second build makes nothing" "$again" 'steps 5 cached 5'
is "and is the same image" "$(grep ^sha256 <<<"$again")" "$(grep ^sha256 <<<"$out")"
touch -d '2001-01-01' "$context/src/one.txt"
like "times of files do not count" "$(drive build "$context" Dockerfile GIVEN=arg)" 'steps 5 cached 5'
like "a build argument counts where it is seen" "$(drive build "$context" Dockerfile GIVEN=other)" 'steps 5 cached 3'
echo changed >"$context/src/sub/two.o"
like "content counts" "$(drive build "$context" Dockerfile GIVEN=arg)" 'steps 5 cached 1'
chmod 755 "$context/src/one.txt"
like "so do modes" "$(drive build "$context" Dockerfile GIVEN=arg)" 'steps 5 cached 1'

fresh
like "stages: only what is needed is built, and files go from one to the other" "$(build <<'D'
FROM base AS one
RUN mkdir /o && echo made >/o/f && chmod 600 /o/f
FROM base AS never
RUN exit 1
FROM scratch
COPY --from=one /o /p
COPY --from=0 /o/f /q
COPY --from=base /etc/passwd /
D
)" 'steps 4 cached 0'
is "what was copied from a stage" "$(show /p/f) $(show /q)" "100600 0:0 made 100600 0:0 made"

fresh
mkdir -p "$context/p/q/r" "$context/p/s"
echo one >"$context/p/q/r/one.c"
echo two >"$context/p/s/two.c"
echo no >"$context/p/s/no.h"
chmod 750 "$context/p/q"
ln -s ../../../../etc "$context/p/out"
like "COPY --parents brings the folders along, patterns and pivots too" "$(build <<'D'
FROM base
COPY --parents p/q/r/one.c p/s/*.c /all/
COPY --parents p/./q/r/one.c p/./s /behind
COPY --parents --exclude=**/*.c p/s /but
COPY --parents p/s/./ /content/
FROM base
COPY --from=0 --parents /all/./p/*/*.c /from/
COPY --from=0 /all /all
COPY --from=0 /behind /behind
COPY --from=0 /but /but
COPY --from=0 /content /content
D
)" 'steps 9 cached 0'
is "files are where they were" "$(for f in /all/p/q/r/one.c /all/p/s/two.c /behind/q/r/one.c /behind/s/two.c /but/p/s/no.h /content/two.c /from/p/s/two.c; do show $f | cut -d' ' -f3; done | tr '\n' ' ')" "one two one two no two two "
like "their folders have the modes that they had" "$(show /all/p/q)" '^40750 '
like "nothing else came with them" "$(for f in /all/p/s/no.h /behind/p /but/p/s/two.c /but/s /content/p /from/all; do show $f 2>&1; done | grep -c 'No such file')" '^6$'
like "a link does not lead --parents out of the context" "$(build <<'D' 2>&1
FROM base
COPY --parents p/out/passwd /x/
D
)" 'there is no p/out/passwd in the build context'
like "--chmod takes words, too" "$(build <<'D'
FROM base
COPY --chmod=u=rwX,go=rX p /words
D
)" 'steps 1'
is "which tell files from folders" "$(show /words/q | cut -d' ' -f1) $(show /words/s/no.h | cut -d' ' -f1)" "40755 100644"

fresh
mkdir "$context/a"
echo in >"$context/a/f"
tar -C "$context" -czf "$context/x.tgz" a
like "ADD unpacks archives, COPY does not" "$(build <<'D'
FROM base
ADD x.tgz /un
COPY x.tgz /as-it-is
D
)" 'steps 2'
is "unpacked" "$(show /un/a/f | cut -d' ' -f3)" "in"
like "not unpacked" "$(show /as-it-is | head -c 20 | tr -d '\0')" '^100644'

fresh
mkdir -p "$context/keep" "$context/no"
touch "$context/keep/a" "$context/keep/b.log" "$context/no/c" "$context/no/back"
printf '*.log\n**/*.log\nno\n!no/back\n' >"$context/.dockerignore"
build >/dev/null <<'D'
FROM base
COPY . /c/
D
like "what .dockerignore names is not there" "$(show /c/keep/b.log; show /c/no/c)" 'No such file.*
.*No such file'
like "but what it brings back is" "$(show /c/no/back)" '^100644'
printf '*\n!keep\n' >"$context/.dockerignore"
like "all may be ignored but what is brought back" "$(build <<'D'
FROM base
COPY . /c/
D
)" 'sha256:'
like "and that alone is there" "$(show /c/keep/a; show /c/no/back)" '^100644 .*No such file'
printf 'no\n' >"$context/.dockerignore"
like "a source that is ignored is not there either, by whatever name" "$(ln -s no/c "$context/alias"; build <<'D'
FROM base
COPY alias /c
D
)" 'Dockerfile:2: COPY: there is no alias in the build context'

fresh
touch "$context/f"
for chown in app app:1001 app:1000; do
	made=$(build <<D
FROM base
COPY --chown=$chown f /f
D
)
	case $chown in
	app:1000) like "--chown=USER is the same step as --chown=USER:GROUP with the user's number" "$made" 'steps 1 cached 1' ;;
	*) like "another group is another step: --chown=$chown" "$made" 'steps 1 cached 0' ;;
	esac
	[ "$ids" = 1 ] || is "and gives what it says: $chown" "$(show /f)" "100644 1000:$([ $chown = app:1001 ] && echo 1001 || echo 1000) "
done

fresh
touch -d 2001-01-01 "$context/same"
like "two steps that make the same layer" "$(build <<'D'
FROM base
COPY same /x
RUN rm /x
COPY same /x
D
)" 'sha256:'
like "are one, above what came between" "$(show /x)" '^100644'

# ---- hostile ones ----

secret=$tmp/outside-secret
echo "outside" >"$secret"

fresh
ln -s "$secret" "$context/abs"
ln -s ../outside-secret "$context/rel"
mkdir "$context/d"
ln -s ../../outside-secret "$context/d/in"
# the naive way
is "the attack: cp follows the link out of the context" "$(cat "$context/rel")" "outside"
for l in abs rel; do
	like "a link out of the context leads nowhere: $l" "$(build <<D
FROM base
COPY $l /f
D
)" "Dockerfile:2: COPY: there is no $l in the build context"
done
build >/dev/null <<'D'
FROM base
COPY d /d
D
is "in a folder it stays a link, which leads inside the image" "$(show /d/in)" "120777 0:0 ../../outside-secret"

fresh
like "a name above the context is refused" "$(build <<'D'
FROM base
ARG UP=..
COPY $UP/outside-secret /
D
)" 'Dockerfile:3: COPY: the source leaves the build context'
like "a pattern does not go above it" "$(build <<'D'
FROM base
COPY [.][.]/outside-secret /f
D
)" 'Dockerfile:2: COPY: there is no'

fresh
echo evil >"$context/passwd"
before=$(sha256sum /etc/passwd)
build >/dev/null <<'D'
FROM base
RUN ln -s /../../../../../../../../../../tmp /tmp/away && ln -s /proc/self/root/tmp /magic
COPY passwd /up/passwd
COPY passwd /tmp/away/cordon-build-was-here
D
is "a link of the image at the destination does not lead to the host" "$(sha256sum /etc/passwd; ls /tmp/cordon-build-was-here 2>&1 | grep -c 'No such')" "$before
1"
is "but to the image's own" "$(show /etc/passwd) $(show /tmp/cordon-build-was-here)" "100644 0:0 evil 100644 0:0 evil"

fresh
mkdir -p "$context/t/x"
touch "$context/t/x/y"
like "a folder does not go where the image has a link" "$(build <<'D'
FROM base
RUN mkdir /w && ln -s /etc /w/x
COPY t /w
D
)" 'Dockerfile:3: COPY: x: a file or a link stands where a folder is needed'
like "nor a file where it has a folder" "$(build <<'D'
FROM base
COPY t/x/y /etc/
RUN mkdir /etc/y2
D
)" 'steps 2'
like "a user whom the image does not know is not looked for on the host" "$(build <<'D'
FROM base
COPY --chown=daemon t /w
D
)" 'Dockerfile:2: COPY: the image has no user daemon'
like "a command that fails names its line" "$(build <<'D'
FROM base

RUN exit 3
D
)" 'Dockerfile:3: RUN: .*exit status 3'
like "an image that is not there: what to do" "$(build <<'D'
FROM nothing-here:1
D
)" 'Dockerfile:1: FROM: .*nothing-here'

evil=$tmp/evil.tar
(cd "$tmp" && mkdir -p e && echo x >e/f && tar -cf "$evil" --transform 's,e/f,../../../escaped,' -P e/f)
fresh
cp "$evil" "$context/evil.tar"
like "an archive that would escape is refused" "$(build <<'D'
FROM base
ADD evil.tar /
D
)" 'Dockerfile:2: ADD: .*'
ln -s . "$context/a"
ln -s . "$context/b"
ln -s . "$context/c"
like "a pattern over links in circles ends" "$(build <<'D'
FROM base
COPY */*/*/*/*/*/*/*/*/*/*/*/*/*/*/* /x/
D
)" 'Dockerfile:2: COPY: there is no '
ok "and did not" test ! -e "$tmp/escaped"

fresh
touch "$context/there"
is "check lists all that is wrong, with lines, and builds nothing" "$(cat >"$context/Dockerfile" <<'D'
FROM not-here
COPY there not-there /x/
RUN --network=host true
ADD http://example.test/x /
D
drive check "$context")" "Dockerfile:3: RUN: a build has no network but its own; remove --network=host
Dockerfile:4: ADD: nothing is fetched from elsewhere while an image is built; put the file beside the Dockerfile, or fetch it in a RUN: http://example.test/x"
is "files that are not there are named, too" "$(cat >"$context/Dockerfile" <<'D'
FROM not-here
COPY there not-there /x/
D
drive check "$context")" "Dockerfile:2: COPY: there is no not-there in the build context, or .dockerignore names it"

# ---- what copies may cost ----

fresh
mkdir -p "$context/four" "$context/many" "$context/more"
head -c $((4 << 20)) /dev/urandom >"$context/four/data"
cp "$context/four/data" "$context/more/data"
for i in $(seq 5000); do : >"$context/many/$i"; done
for i in 1 2 3; do tar -C "$context/four" -czf "$context/four$i.tgz" data; done
mkdir "$tmp/twelve"
for i in 1 2 3; do cp -r "$context/four" "$tmp/twelve/$i"; done
tar -C "$tmp/twelve" -cf "$context/twelve.tar" .
tar -C "$context" -czf "$context/many.tgz" many
python3 - "$context/holes.tar" "$context/zeros" <<'EOF2'
import sys, tarfile
size = 100 << 20
# all of it a hole, in GNU's form
h = bytearray(tarfile.TarInfo("hole").tobuf(tarfile.GNU_FORMAT))
h[156:157] = b"S"
h[386:410] = b"%011o\0%011o\0" % (size, 0)
h[483:495] = b"%011o\0" % size
h[148:156] = b" " * 8
h[148:156] = b"%06o\0 " % sum(h)
open(sys.argv[1], "wb").write(bytes(h) + bytes(1024))
open(sys.argv[2], "wb").write(b"begin" + bytes(9 << 20) + b"middle" + bytes((9 << 20) + 77))
EOF2
# limited ROOM MS: builds the Dockerfile on standard input, within so much (-1: the time is over before it begins)
limited() { BUILD_DRIVE_ROOM=$1 BUILD_DRIVE_MS=$2 build; }
room=$((10 << 20))
for step in 'COPY four more twelve.tar /x/' 'ADD twelve.tar /x/' 'ADD four1.tgz four2.tgz four3.tgz /x/' 'ADD four1.tgz four2.tgz four more /x/' 'COPY --from=b /x/ /y/' 'RUN --mount=source=four,target=/a --mount=source=more,target=/b --mount=source=four,target=/c true' 'RUN --mount=from=b,target=/a true'; do
	like "more than there is room for is refused: $step" "$(limited $room 0 <<D
FROM scratch AS b
COPY four /x/1/
COPY more /x/2/
COPY four /x/3/
FROM base
$step
D
)" 'Dockerfile:6: (COPY|ADD|RUN): its files are more than the 10 MiB that may be stored'
done
like "names need room, too" "$(limited $((4 << 20)) 0 <<<'FROM base
COPY many /x/')" 'COPY: its files are more'
like "those in an archive as well" "$(limited $((4 << 20)) 0 <<<'FROM base
ADD many.tgz /x/')" 'ADD: .*one entry more than there may be'
like "what fits is fine, in each step anew" "$(limited $room 0 <<'D'
FROM base
COPY four more /x/
ADD four1.tgz four2.tgz /y/
COPY many /z/
D
)" 'steps 3 cached 0'
cp --sparse=never "$context/zeros" "$tmp/zeros"
truncate -s 50M "$context/hole"
like "holes and zeros take no room, wherever they are copied" "$(limited $((2 << 20)) 0 <<'D'
FROM base AS b
ADD holes.tar /x/
COPY zeros hole /x/
FROM base
COPY --from=b /x /y
COPY zeros /again
D
)" 'sha256'
is "and are there" "$(show /y/zeros | tail -c "$(stat -c %s "$tmp/zeros")" | cmp - "$tmp/zeros" && show /y/hole | tail -c $((50 << 20)) | tr -d '\0' | wc -c)" 0
rm "$tmp/zeros" "$context/hole"
python3 - "$context/long.tgz" <<'EOF2'
import gzip, sys, tarfile
i = tarfile.TarInfo("zeros"); i.size = 6000 << 20
with open(sys.argv[1], "wb") as f:
    f.write(gzip.compress(i.tobuf(tarfile.GNU_FORMAT)))
    f.write(gzip.compress(bytes(1 << 20)) * 1000)
EOF2
for step in 'COPY four /x/' 'ADD long.tgz /x/' 'WORKDIR /x' 'RUN --mount=source=four,target=/a true'; do
	like "nothing is made when the time is over: $step" "$(limited 0 -1 <<<"FROM base
$step")" 'its time is over'
done
like "nor looked for" "$(limited 0 -1 <<<'FROM base
COPY nothin[g] /x/')" 'its time is over'
like "an archive that takes too long is ended" "$(limited 0 700 <<<'FROM base
ADD long.tgz /x/')" 'its time is over'
like "as is the reading of a layer that is a hole" "$(limited 0 2000 <<<'FROM base
RUN truncate -s 15G /x')" 'its time is over'
rm -rf "$tmp/twelve"

# ---- RUN in a sandbox ----

if [ -x "$CORDON_BUILD/tests/image-run" ]; then
	cp "$CORDON_BUILD/tests/image-run" "$bin/"
	[ -e "$CORDON_BUILD/cordon-init" ] && cp "$CORDON_BUILD/cordon-init" "$bin/"
	export BUILD_DRIVE_RUN=$bin/image-run XDG_STATE_HOME=$tmp/state XDG_CONFIG_HOME=$tmp/config XDG_CACHE_HOME=$tmp/cache
	fresh
	mkdir "$context/m"
	echo mounted >"$context/m/f"
	out=$(build <<'D'
FROM base AS b
RUN echo from-b >/b-file
FROM base
WORKDIR /w
ENV V="x y"
RUN echo "$V" >v && id -u >>v && pwd >>v
USER app
RUN id -u >/tmp/who
USER root
RUN --mount=type=bind,source=m,target=/m cat /m/f >got && ! touch /m/f
RUN --mount=from=b,source=/b-file,target=/mb cat /mb >>got
RUN --mount=type=cache,target=/cache echo kept >/cache/k
RUN --mount=type=cache,target=/cache --mount=type=tmpfs,target=/t cat /cache/k >>got && touch /t/x
RUN test ! -e /cache/k && test ! -e /t/x && rm -f /root/nothing
D
)
	like "a build with every RUN in a sandbox" "$out" 'sha256:[0-9a-f]{64}'
	is "its variables, user and folder" "$(show /w/v | cut -d' ' -f3-)" "x y
0
/w"
	[ "$ids" = 1 ] || is "another user" "$(show /tmp/who)" "100644 1000:1001 1000"
	is "binds of the context and of a stage, which cannot be written to, and caches" "$(show /w/got | cut -d' ' -f3-)" "mounted
from-b
kept"
	like "what was mounted is not in the image" "$(show /cache/k; show /t/x)" 'No such file.*
.*No such file'
	like "and cached as any other" "$(drive build "$context")" 'steps 9 cached 9'
	# What a RUN sees of the context is what its layer is found by.
	fresh
	mkdir -p "$context/in" "$context/x[1]" "$context/x1"
	echo tool | tee "$context/tool" >"$context/in/tool"
	echo hidden | tee "$context/local.cfg" "$context/in/local.cfg" >"$context/x[1]/f"
	echo other >"$context/x1/f"
	ln -s local.cfg "$context/alias"
	printf '**/local.cfg\n' >"$context/.dockerignore"
	whole='FROM base
RUN --mount=type=bind,target=/src --mount=type=bind,source=in,target=/in cat /src/tool /src/local.cfg /src/alias /in/local.cfg >/seen 2>/dev/null; cat /in/tool >>/seen'
	like "a context with an ignored file can be mounted" "$(build <<<"$whole")" 'steps 1 cached 0'
	is "but not seen in the mount, in no folder and through no link" "$(show /seen | cut -d' ' -f3-)" "tool
tool"
	rm "$context/local.cfg" "$context/in/local.cfg"
	like "it makes no difference to the layer, for it had none" "$(build <<<"$whole")" 'steps 1 cached 1'
	echo more >>"$context/in/tool"
	like "what is seen does" "$(build <<<"$whole")" 'steps 1 cached 0'
	for source in local.cfg alias; do
		echo hidden >"$context/local.cfg"
		like "an ignored file is no source of a mount, by whatever name: $source" "$(build <<D
FROM base
RUN --mount=type=bind,source=$source,target=/s cat /s
D
)" "Dockerfile:2: RUN: there is no $source in the build context"
	done
	named='FROM base
RUN --mount=type=bind,source=x[1],target=/s cat /s/f >/seen'
	like "a mount's source is a name, not a pattern" "$(build <<<"$named")" 'steps 1 cached 0'
	is "which is mounted" "$(show /seen | cut -d' ' -f3-)" "hidden"
	echo changed >"$context/x[1]/f"
	like "and looked at" "$(build <<<"$named")" 'steps 1 cached 0'
	echo nothing >"$context/x1/f"
	like "as nothing else is" "$(build <<<"$named")" 'steps 1 cached 1'
	like "a stage's, too" "$(build <<'D'
FROM base AS b
RUN mkdir /x1 '/x[1]' && echo one >'/x[1]/f' && echo two >/x1/f
FROM base
RUN --mount=from=b,source=/x[1],target=/s cat /s/f >/seen
D
)" 'sha256:'
	is "of that name" "$(show /seen | cut -d' ' -f3-)" "one"
	printf '*\n!tool\n' >"$context/.dockerignore"
	build >/dev/null <<<'FROM base
RUN --mount=type=bind,target=/s ls -A /s >/seen'
	is "a mount shows what .dockerignore brings back, and nothing else" "$(show /seen | cut -d' ' -f3-)" "tool"
	rm "$context/.dockerignore"
	like "a RUN cannot reach the host" "$(build <<'D'
FROM base
RUN cat /proc/1/root/etc/hostname /host 2>&1; ls /proc/sys/kernel/hostname >/dev/null; test ! -e /work && test ! -e /home/tester
D
)" 'sha256:'
else
	skip "RUN in a sandbox" "image-run is not built"
fi
finish
