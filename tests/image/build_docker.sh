#!/bin/bash
# The builder that uses Docker Engine: what it sends means what the native builder makes, bases come from the engine into the store, and nothing of the host goes along.
. "$(dirname "$0")/../lib.sh"
. "$tests_dir/docker_lib.sh"

busybox=$(command -v busybox) && ! ldd "$busybox" >/dev/null 2>&1 || { skip "builds" "no static busybox"; finish; }
start_engine "builds by Docker Engine"
export XDG_DATA_HOME=$tmp/data BUILD_DRIVE_ENGINE=$engine/s
bin=$tmp/bin
mkdir -p "$bin" "$XDG_DATA_HOME"
cp "$CORDON_BUILD/tests/build-drive" "$CORDON_BUILD/cordon-unpack" "$bin/"
drive() { timeout 120 "$bin/build-drive" "$@" 2>&1; }
show() { drive cat built "$1"; }

root=$tmp/base
mkdir -p "$root"/{bin,etc,tmp,root,usr/lib}
cp "$busybox" "$root/bin/busybox"
for c in sh ls cat echo mkdir id env pwd; do ln -s busybox "$root/bin/$c"; done
ln -s usr/lib "$root/lib"
printf 'root:x:0:0::/root:/bin/sh\napp:x:1000:1001::/:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\nstaff:x:50:\n' >"$root/etc/group"
tar -C "$root" -c . | docker import -c 'ENV FROM_BASE=yes' - base >/dev/null

context=$tmp/context
mkdir -p "$context/src/sub" "$context/secret"
echo one >"$context/src/one.txt"
echo two >"$context/src/sub/two"
echo x >"$context/secret/x"
ln -s "$tmp/base/etc/passwd" "$context/src/out"
(cd "$context/src" && tar -czf ../a.tgz one.txt)
echo secret >"$context/.dockerignore"
cat >"$context/Dockerfile" <<'D'
# syntax=docker/dockerfile:1
FROM base AS one
ARG A='q"u$o' B
WORKDIR /work
ENV E="$A $FROM_BASE"
COPY src ./s
COPY --chown=app:staff --chmod=0640 src/one.txt /lib/one
COPY src/one.txt src/sub/two /two/
COPY . /all
ADD a.tgz /un/
RUN echo "$E $A" >x && pwd >>x && env >/env
RUN <<EOF
echo from a heredoc >h
EOF
COPY <<f /here
$E
f
USER app
FROM one
COPY --from=one /work/h /copied
CMD ["x", "$E"]
D
out=$(SECRET_OF_THE_HOST=never drive docker "$context")
like "a build ends with an image, its base fetched from the engine" "$out" 'sha256:[0-9a-f]{64}'
is "folders" "$(show /work/s/sub/two | cut -d' ' -f1,3) $(show /work/s/out | cut -d' ' -f1)" "100644 two 120777"
is "--chown and --chmod, and a link of the image at the destination" "$(show /usr/lib/one)" "100640 1000:50 one"
is "several files" "$(show /two/one.txt | cut -d' ' -f3)$(show /two/two | cut -d' ' -f3)" "onetwo"
is "an archive is unpacked" "$(show /un/one.txt | cut -d' ' -f3)" "one"
like "what .dockerignore names does not go along" "$(show /all/secret/x)" 'No such file'
is "variables mean what they meant" "$(show /work/x | cut -d' ' -f3-)" 'q"u$o yes q"u$o
/work'
is "heredocs" "$(show /work/h | cut -d' ' -f3-) $(show /here | cut -d' ' -f3-)" 'from a heredoc q"u$o yes'
is "copies between stages" "$(show /copied | cut -d' ' -f3-)" "from a heredoc"
like "the configuration is the Dockerfile's" "$(drive config built)" 'command: x \$E
workdir: /work
user: app'
is "nothing of our environment is inside" "$(show /env | grep -c never)" 0
is "the engine keeps no image of it" "$(docker images -q cordon-build | wc -l)" 0

digest() { for f in /work/x /two/two /here /usr/lib/one /work/h; do show "$f"; done | sha256sum; }
docker_digest=$(digest)
like "the native builder makes it, too" "$(drive build "$context")" 'sha256:[0-9a-f]{64}'
is "with the same files" "$(digest)" "$docker_digest"

printf 'FROM base\nRUN exit 7\n' >"$context/Dockerfile"
like "a command that fails is told" "$(drive docker "$context")" 'Docker Engine: .*non-zero code: 7'
printf 'FROM absent:1\n' >"$context/Dockerfile"
like "an image that nobody has: what to do" "$(drive docker "$context")" 'Dockerfile:1: FROM: .*absent:1 is not here'
tar -C "$root" -c . | docker import -c 'ONBUILD RUN ["/bin/id"]' - trigger >/dev/null
printf 'FROM trigger\n' >"$context/Dockerfile"
like "triggers are not left to the engine" "$(drive docker "$context")" 'has triggers'
like "but carried out by us" "$(drive build "$context")" 'RUN \["/bin/id"\]'
finish
