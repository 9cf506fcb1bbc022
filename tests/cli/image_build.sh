#!/bin/bash
# cordon image build: an image from a folder's Dockerfile, each RUN in a sandbox; and cordon image prune, which removes what no image has.
# shellcheck disable=SC2154 # lib.sh's and run_lib.sh's
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"
. "$tests_dir/task_lib.sh"
export XDG_DATA_HOME=$tmp/data
unset DOCKER_HOST
store=$XDG_DATA_HOME/cordon/images

# What belongs to other ids is Cordon's to remove.
cleanup()
{
	"$CORDON" image ls --json 2>/dev/null | python3 -c 'import json,sys
for i in json.load(sys.stdin): print(i["digest"])' | xargs -r "$CORDON" image rm 2>/dev/null
	"$CORDON" image prune >/dev/null 2>&1
	tap_cleanup
}
trap cleanup EXIT
if ldd "$CORDON" 2>/dev/null | grep -q asan; then
	skip "builds" "the sanitizers need more than a sandbox leaves"
	finish
fi
if ! task_images base 2>"$tmp/err"; then
	skip "builds" "$(tail -n 1 "$tmp/err")"
	finish
fi

context=$tmp/context
mkdir "$context"
# build [OPTION...] <<END: with that Dockerfile; sets status, said and told
build()
{
	cat >"$context/Dockerfile"
	outside timeout 120 "$CORDON" image build "$@" my/image "$context"
}
# in_image COMMAND...
in_image() { timeout 60 "$CORDON" run --image my/image -- "$@" 2>&1; }

echo "from the context" >"$context/file"
build <<'END'
FROM cordon-test/base
ARG WHO=nobody
ENV KIND=plain
WORKDIR /srv
COPY file .
RUN echo "$WHO $KIND $(id -u)" >made; cat file
END
like "a folder with a Dockerfile becomes an image: its digest is printed" "$status $said" '^0 sha256:[0-9a-f]{64}$'
like "each step is told" "$told" 'cordon: 3/3 RUN echo'
is "what COPY and RUN made is there, and the config" "$(in_image sh -c 'cat made file; echo $KIND; pwd')" "nobody plain 0
from the context
plain
/srv"
is "it is listed" "$("$CORDON" image ls | grep -c '^my/image:latest ')" 1
first=$said
mkdir -m 700 "$context/priv"
for mode in 600 640 666 755; do echo x >"$context/m$mode"; chmod "$mode" "$context/m$mode"; cp -p "$context/m$mode" "$context/priv"; done
build <<'END'
FROM cordon-test/base
COPY . /all/
COPY m600 /one
COPY m600 m640 /two/
ADD priv /priv
COPY --chmod=0604 m600 /told
COPY --parents ./priv/m640 /with/
RUN stat -c %a /all/m600 /all/m666 /all/priv /two/m640 /with/priv >/seen
END
is "files come with the modes that they have in the folder" "$status $(in_image sh -c 'stat -c %a /all/m600 /all/m640 /all/m666 /all/m755 /all/priv /all/priv/m600 /one /two/m640 /priv/m600 /told /with/priv' | tr '\n' ' ')" "0 600 640 666 755 700 600 600 640 600 604 700 "
is "... which a RUN sees, too" "$(in_image cat /seen | tr '\n' ' ')" "600 666 700 640 700 "
chmod 644 "$context/m600"
outside timeout 120 "$CORDON" image build my/image "$context"
is "... and another mode is another layer" "$status $(in_image stat -c %a /one)" "0 644"
rm -r "$context/priv" "$context"/m???
outside timeout 60 "$CORDON" run --image my/image --env PATH= -- ls
like "a program that is not in the image's PATH is not looked for on this machine" "$status:$told" '^127:.*not found in the PATH of the image; name it by its path there'
outside timeout 60 "$CORDON" run --image my/image -- /usr/bin/no/such
like "... nor is one that is named by its path" "$status:$told" '^127:.*not found in the image'
build <<'END'
FROM cordon-test/base
RUN echo 'agent:x:1000:1000::/:/bin/sh' >>/etc/passwd; printf 'agent:x:1000:\nshared:x:2000:other,agent\nhigh:x:4000000:agent\n' >>/etc/group; mkdir /shared; echo theirs >/shared/f; chgrp -R 2000 /shared; chmod 750 /shared; chmod 640 /shared/f
USER agent
RUN id -G >/tmp/seen; cat /shared/f >>/tmp/seen
END
if [ "$status" = 0 ] && [ "$("$CORDON" run --image my/image -- id -u 2>/dev/null)" = 1000 ]; then
	is "a user of an image has the groups that its table says" "$(in_image sh -c 'id -G; cat /shared/f')" $'1000 2000\ntheirs'
	is "... in a RUN, too" "$(in_image cat /tmp/seen)" $'1000 2000\ntheirs'
	for runtime in gvisor runc crun; do
		outside timeout 60 "$CORDON" run --runtime "$runtime" --image my/image -- sh -c 'id -G; cat /shared/f'
		if [[ $told = *"$runtime"* && $status = 125 ]]; then
			skip "... and on $runtime" "$(tail -n 1 <<<"$told")"
		else
			is "... and on $runtime" "$status $said" $'0 1000 2000\ntheirs'
		fi
	done
else
	skip "a user of an image has the groups that its table says" "there is one user id"
fi
build <<'END'
FROM cordon-test/base
USER 99999
END
outside timeout 60 "$CORDON" run --image my/image -- true
if [ "$(id -u)" = 0 ]; then
	like "a user beyond the ids of a sandbox is named, and what root can do about it" "$status:$told" '^125:.*user 99999:0 is beyond the .* ids that a sandbox has; give that user a smaller number'
else
	like "a user beyond the ids of a sandbox is named, and what helps" "$status:$told" '^125:.*user 99999:0 is not among the .*usermod --add-subuids'
fi
"$CORDON" image rm my/image >/dev/null
build <<'END'
FROM cordon-test/base
ARG WHO=nobody
ENV KIND=plain
WORKDIR /srv
COPY file .
RUN echo "$WHO $KIND $(id -u)" >made; cat file
END
outside timeout 120 "$CORDON" image build my/image "$context"
is "a second build makes nothing, and is the same image" "$said $(grep -c 'made before' <<<"$told")" "$first 3"
outside timeout 120 "$CORDON" image build --quiet my/image "$context"
is "with --quiet only the digest is said" "$said$told" "$first"
outside timeout 120 "$CORDON" image build --build-arg WHO=me my/image "$context"
is "an argument of the command line is taken" "$status $(in_image cat made)" "0 me plain 0"
export SECRET_OF_MINE=fake-secret-9931
outside "$CORDON" image build --build-arg SECRET_OF_MINE my/image "$context"
like "but no variable of the host's" "$status $told" '^125 .*write NAME=VALUE'

# What RUN can do
build <<'END'
FROM cordon-test/base
RUN env; ls /home /root; cat /proc/1/cmdline; ls -a /; (echo x >/dev/tcp/127.0.0.1/22) 2>/dev/null && echo reached; exit 7
END
like "a RUN that fails fails the build, with its line and its last words" "$status $told" '^125 .*cordon: \| .*Dockerfile:2: .*exit status 7'
ok "... which have nothing of the host's in them" bash -c '! grep -q "fake-secret-9931\|$2" <<<"$1"' _ "$told" "$tmp"
is "nothing is left of it" "$(ls -A "$XDG_CACHE_HOME/cordon/tasks") $(ls "$store/tmp")" " "
build <<'END'
FROM cordon-test/base
RUN printf '\033[2Jevil\n'; exit 1
END
is "no control character of a RUN reaches the terminal" "${told//[^$'\033']/}" ""
build <<'END'
FROM cordon-test/base
RUN --network=none for i in $(seq 100); do echo "line $i"; done; exit 1
END
is "the last twenty lines are told" "$(grep -c '^cordon: | line' <<<"$told") $(grep '| line' <<<"$told" | head -n 1)" "20 cordon: | line 81"
mkdir -p "$XDG_CONFIG_HOME/cordon"
printf 'version: 1\nnetwork: {mode: public}\nprocess: {memory: 64G}\nphases: {build: {network: {mode: none}, process: {timeout: 1s}}}\n' >"$XDG_CONFIG_HOME/cordon/policy.yaml"
build <<'END'
FROM cordon-test/base
RUN sleep 30
END
like "the operator's words for the build phase hold" "$status $told" '^125 .*exit status 124'
rm "$XDG_CONFIG_HOME/cordon/policy.yaml"

# What is refused, before anything runs
build <<'END'
# syntax=docker/dockerfile:1
FROM cordon-test/base
COPY ../secret /
ADD https://example.com/x /
RUN --mount=type=secret,id=x true
END
like "what reaches outside is refused with its lines" "$status $told" '^125 .*Dockerfile:[0-9]+:'
ok "... all of it" bash -c 'for n in 3 4 5; do grep -q "Dockerfile:$n" <<<"$1" || { echo "line $n is missing"; exit 1; }; done' _ "$told"
ok "... and nothing was begun" bash -c '! grep -q "1/" <<<"$1"' _ "$told"
echo "fake-secret" >"$tmp/secret"
ln -s ../secret "$context/link"
build <<'END'
FROM cordon-test/base
COPY link /
END
like "a link that leaves the folder is refused" "$status $told" '^125 .*link: .*'
rm "$context/link"
build <<'END'
FROM nowhere/at-all:1
END
like "a base image that is not here says what to do" "$status $told" '^125 .*nowhere/at-all'
outside "$CORDON" image build 'Not A Name' "$context"
is "a name that FROM could not say is refused" "$status" 125
outside timeout 120 "$CORDON" image build "my/image@sha256:$(printf '%064d' 0)" "$context"
like "so is one that promises a digest" "$status $told" '^125 .*give it a name with a tag'
outside "$CORDON" image build my/image "$tmp/no-such-folder"
is "as is a folder that is not there" "$status" 125
rm "$context/Dockerfile"
outside "$CORDON" image build my/image "$context"
like "or one without a Dockerfile" "$status $told" '^125 .*Dockerfile'

# An image for the next ones
build <<'END'
FROM cordon-test/base
RUN echo base >/base
END
printf 'FROM my/image\nRUN cat /base >/above\n' >"$context/Dockerfile"
outside timeout 120 "$CORDON" image build my/above "$context"
is "what was built is a base for others" "$status $(timeout 60 "$CORDON" run --image my/above -- cat /above 2>&1)" "0 base"
for odd in user workdir; do
	python3 "$tests_dir/image/layout.py" "$tmp/$odd" $odd-lines >/dev/null
	timeout 60 "$CORDON" image import odd-$odd "$tmp/$odd" >/dev/null 2>&1
	mkdir -p "$tmp/on-$odd" && echo "FROM odd-$odd" >"$tmp/on-$odd/Dockerfile"
	like "a base whose $odd has a newline is named, and what is wrong with it" "$(timeout 60 "$CORDON" image build my/odd "$tmp/on-$odd" 2>&1)" "Dockerfile:1: FROM: nothing can be built on image .*odd-$odd:latest: its (User|WorkingDir) has a newline"
done

# Pruning
layers() { find "$store/layers" -mindepth 1 -maxdepth 1 | wc -l; }
"$CORDON" image prune >/dev/null 2>&1
before=$(layers)
build <<'END'
FROM cordon-test/base
RUN head -c 100000 /dev/zero >/big
RUN exit 1
END
is "a build that failed leaves what it made, for the next one" "$(($(layers) - before))" 1
outside "$CORDON" image prune --dry-run
like "prune --dry-run says what would go" "$said / $told" '^[0-9a-f]{12}  100 kB / .*1 layer, 100 kB would be freed'
is "... and removes nothing" "$(($(layers) - before))" 1
outside "$CORDON" image prune --dry-run --json
is "... as JSON, too" "$(python3 -c 'import json,sys; v = json.load(open(sys.argv[1])); print(v["dry_run"], len(v["layers"]), v["bytes"], v["layers"][0]["bytes"])' "$tmp/out")" "True 1 100000 100000"
# a build goes on, and holds what it made
build <<'END' &
FROM cordon-test/base
RUN head -c 100000 /dev/zero >/big
RUN sleep 4; test -s /big
RUN test -s /big && echo done >/done
END
builder=$!
for _ in $(seq 100); do "$CORDON" ps --quiet | grep -q . && break; sleep 0.05; done
outside "$CORDON" image prune
like "what a build that goes on has found or made stays" "$told" ' 0 layers, 0 B freed'
wait "$builder"
is "and it ends well" "$(in_image cat /done)" done
"$CORDON" image rm my/image 2>/dev/null
outside "$CORDON" image prune
is "at the end, nothing is there that no image has" "$status $(layers) $(ls "$store/tmp")" "0 $before "
ok "images that are left are whole" timeout 60 "$CORDON" run --image my/above -- cat /above
finish
