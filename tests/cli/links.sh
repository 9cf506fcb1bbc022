#!/bin/bash
# What an entry of filesystem.read and filesystem.write means is the policy's to say: no link that a repository carries, a run left or a stranger made leads it elsewhere. The operator's own do.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

far=$tmp/outside # nobody names it
mkdir -m 700 "$far" || exit 99
echo TOKEN >"$far/token"
mkdir "$far/folder"
echo TOKEN >"$far/folder/token"

# safe NAME PLACE: the run was refused for a link in that place, and nothing was read or written outside.
safe()
{
	ok "$1" is_safe "$2"
}

is_safe()
{
	refused 125 "symbolic link in $1" || return 1
	[ -z "$said" ] && [ "$(cat "$far/token" "$far/folder/token")" = $'TOKEN\nTOKEN' ] && [ "$(ls "$far/folder")" = token ]
}

# shellcheck disable=SC2016 # for the shell inside
attack='cat "$@"; echo HACK >>"$1"; echo HACK >"$1/new"'

# --- the work folder ---

policy <<END
filesystem: {workdir: read-write, write: [result.json]}
END
inside_works "a run can leave a link where there was nothing" ln -s "$far/token" result.json
inside sh -c "$attack" sh result.json
safe "a link that a run left is not what filesystem.write means in the next" "the work folder"
like "the line names entry, link and what to do" "$told" "filesystem.write .*result.json \(.*policy.yaml:2\): $work/result.json is a symbolic link .*$far/token.*name that itself, or remove"
outside "$CORDON" run --dry-run --policy "$tmp/policy.yaml" -- true
ok "--dry-run says so too" refused 125 "symbolic link in the work folder"
rm result.json
inside_works "without the link it runs" true
echo mine >result.json
inside_says "a file of that name is shown" "mine" cat result.json
rm result.json

ln -s "$far/token" file
ln -s "$far" way
ln -s "../outside/token" up
ln -s file chain
mkdir dir
ln -s "$far/folder" dir/sub
ln -s "$work/file" "$tmp/home/mine"
for mode in read-write read-only copy none; do
	for access in read write; do
		for entry in file way/token up chain dir/sub dir/sub/token way 'dir/*' 'd*/sub/t?ken' "$tmp/home/mine"; do
			policy <<-END
			filesystem: {workdir: $mode, $access: ["$entry"]}
			END
			inside sh -c "$attack" sh "$work/${entry//[*?]/}" "$tmp/home/mine"
			safe "workdir $mode, $access: no link of the repository leads out (${entry#"$tmp/"})" "the work folder"
		done
	done
done
rm -r file way up chain dir "$tmp/home/mine"

echo inner >real
ln -s real alias
mkdir .git
echo '[core]' >.git/config
ln -s .git/config cfg
for mode in read-write read-only copy; do
	policy <<-END
	filesystem: {workdir: $mode, read: [alias]}
	END
	inside_says "workdir $mode: a link that stays in the work folder can be named for reading" inner cat real
	policy <<-END
	filesystem: {workdir: $mode, write: [cfg]}
	END
	inside sh -c 'echo HACK >>cfg'
	ok "workdir $mode: a link is no way to write what is protected" refused 125 "symbolic link in the work folder"
	is "workdir $mode: it is as it was" "$(cat .git/config)" "[core]"
done
ln -s nowhere gone
policy <<END
filesystem: {workdir: read-write, write: [gone]}
END
inside_works "a link that leads nowhere shows nothing" true
rm -r real alias cfg gone "$work/.git"

# --- folders that the sandbox may write to ---

shared=$tmp/shared
mkdir "$shared" "$shared/deep"
policy <<END
filesystem: {workdir: none, write: ["$shared", "$shared/deep/out"]}
END
inside_works "a run leaves a link in a folder that it may write to" ln -s "$far/token" "$shared/deep/out"
inside sh -c "$attack" sh "$shared/deep/out"
safe "a link in a folder that the sandbox may write to leads nowhere" "a folder that the sandbox may write to"
ln -s "$shared" "$tmp/home/shared"
policy <<END
filesystem: {workdir: none, write: ["$tmp/home/shared", "$shared/deep/out"]}
END
inside sh -c "$attack" sh "$shared/deep/out"
safe "nor where that folder has another name in the policy" "a folder that the sandbox may write to"
rm "$shared/deep/out"
ln -s "$far" "$shared/deep/out"
policy <<END
filesystem: {workdir: none, write: ["$shared", "$shared/deep/*/token"]}
END
inside sh -c "$attack" sh "$shared/deep/out/token"
safe "nor a folder among those on the way" "a folder that the sandbox may write to"
policy <<END
filesystem: {workdir: none, read: ["$shared", "$shared/deep/out/token"], write: ["$shared/deep"]}
END
inside sh -c "$attack" sh "$shared/deep/out/token"
safe "nor where the folder lies in one that may only be read" "a folder that the sandbox may write to"
rm "$shared/deep/out"
echo notes >"$tmp/home/notes"
ln -s "$tmp/home/notes" "$shared/notes"
policy <<END
filesystem: {workdir: none, write: ["$shared"], read: ["$shared/notes"]}
END
inside_works "a link of the operator's, under a name that the policy keeps from the sandbox, is no obstacle" true
inside_fails "which the sandbox cannot replace" . sh -c "ln -sfn $far/token $shared/notes; rm $shared/notes"
is "and did not" "$(readlink "$shared/notes")" "$tmp/home/notes"
rm -r "${shared:?}" "$tmp/home/shared"

# --- repositories ---

mkdir -p "$tmp/other/.git" "$tmp/other/sub"
ln -s "$far/token" "$tmp/other/sub/out"
for access in read write; do
	policy <<-END
	filesystem: {workdir: none, $access: ["$tmp/other/sub/out"]}
	END
	inside sh -c "$attack" sh "$tmp/other/sub/out"
	safe "$access: nor one in a repository that is not the work folder" "a repository"
done
echo inner >"$tmp/other/real"
ln -s ../real "$tmp/other/sub/alias"
policy <<END
filesystem: {workdir: none, read: ["$tmp/other/sub/alias"]}
END
inside_says "one that stays in its repository can be named for reading" inner cat "$tmp/other/sub/alias"
mkdir "$tmp/home/.git"
ln -s "$far/token" "$tmp/home/.rc"
policy <<END
filesystem: {workdir: none, read: [~/.rc]}
END
inside_says "a home folder that is one is the operator's own all the same" TOKEN cat "$tmp/home/.rc"
rm -r "$tmp/home/.git" "$tmp/home/.rc" "$tmp/other"

# --- folders of others ---

open=$tmp/open
mkdir "$open"
ln -s "$far/token" "$open/link"
policy <<END
filesystem: {workdir: none, write: ["$open/link"]}
END
for mode in 777 1777; do
	chmod $mode "$open"
	inside sh -c "$attack" sh "$open/link"
	safe "a link in a folder that is open to everybody leads nowhere ($mode)" "a folder that others may write to"
done
chmod 755 "$open"
if [ "$(id -u)" = 0 ]; then
	chown 65533 "$open"
	inside sh -c "$attack" sh "$open/link"
	safe "nor one in a folder of another user" "a folder that others may write to"
	chown 0 "$open"
	chmod 2775 "$open"
	chown -h 65533 "$open/link"
	inside sh -c "$attack" sh "$open/link"
	safe "nor one that another user made in a folder of ours, open to a group" "a folder that others may write to"
	mkdir "$open/in"
	ln -s ../link "$open/in/own"
	policy <<-END
	filesystem: {workdir: none, read: ["$open/in/own"]}
	END
	inside sh -c "$attack" sh "$open/in/own"
	safe "nor by way of one of our own" "a folder that others may write to"
	rm -r "$open/in"
	chown -h 0 "$open/link"
	chmod 755 "$open"
	policy <<-END
	filesystem: {workdir: none, write: ["$open/link"]}
	END
fi

# --- links of the operator's own ---

inside_says "a link of the operator's own is followed, to write a file" TOKEN sh -c "cat $open/link; echo more >>$open/link"
is "which is the one that is meant" "$(cat "$far/token")" $'TOKEN\nmore'
echo TOKEN >"$far/token"
ln -s "$far/folder" "$open/folder"
policy <<END
filesystem: {workdir: none, read: ["$open/folder", "$open/link"]}
END
inside_says "to read a file and a folder" $'TOKEN\nTOKEN' cat "$open/link" "$open/folder/token"
policy <<END
filesystem: {workdir: none, read: [/var/run/utmp, /bin/sh, /etc/alternatives/awk]}
END
inside_works "the system's links are followed" true
ln -s "$far/token" "$tmp/home/.toolrc"
policy <<END
filesystem: {workdir: none, read: [~/.toolrc]}
END
cd "$tmp/home" || exit 99
inside_says "so are those at home, where the command line is there too and no work folder is shown" TOKEN cat .toolrc
cd "$work" || exit 99

# --- the ceiling ---

mkdir -p "$tmp/config/cordon" "$tmp/allowed"
echo inner >"$tmp/allowed/file"
cat >"$tmp/config/cordon/policy.yaml" <<END
version: 1
filesystem: {write: ["$tmp/allowed", "$open"], read: ["$tmp/allowed", "$open"]}
END
for access in read write; do
	policy <<-END
	filesystem: {workdir: none, $access: ["$far/token"]}
	END
	inside cat "$far/token"
	ok "$access: the ceiling refuses a file by its name" failed_with "outside what the ceiling opens"
	for entry in link folder folder/token; do
		policy <<-END
		filesystem: {workdir: none, $access: ["$open/$entry"]}
		END
		inside sh -c "$attack" sh "$open/$entry"
		ok "$access: and by a link of the user's that leads to it ($entry)" refused 125 "leads to $far/.*does not name; name it itself, or ask the operator"
		is "$access: nothing was written ($entry)" "$(cat "$far/token" "$far/folder/token")" $'TOKEN\nTOKEN'
	done
	ln -s "$tmp/allowed/file" "$open/fine"
	policy <<-END
	filesystem: {workdir: none, $access: ["$open/fine", "$tmp/allowed"]}
	END
	inside_says "$access: a link that leads to what the policy names is followed" inner cat "$open/fine"
	rm "$open/fine"
done
mkdir "$tmp/allowed/fixed"
echo fixed >"$tmp/allowed/fixed/file"
ln -s "$tmp/allowed/fixed/file" "$open/fixed"
cat >"$tmp/config/cordon/policy.yaml" <<END
version: 1
filesystem: {write: ["$tmp/allowed", "$open"], read: ["$tmp/allowed", "$tmp/allowed/fixed", "$open"]}
END
policy <<END
filesystem: {workdir: none, write: ["$open/fixed", "$tmp/allowed"]}
END
inside sh -c "echo HACK >>$open/fixed"
ok "what the ceiling keeps read-only is not written through a link" refused 125 "does not name"
is "it is as it was" "$(cat "$tmp/allowed/fixed/file")" fixed
cat >"$tmp/config/cordon/policy.yaml" <<END
version: 1
filesystem: {workdir: none}
END
policy <<END
filesystem: {read: ["$open/link"]}
END
inside_says "a ceiling that lists no folders does not ask where links lead" TOKEN cat "$open/link"
echo mine >"$work/mine"
ln -s "$work" "$open/work"
ln -s "$(dirname "$work")" "$open/above"
for mode in none read-only copy; do
	printf 'version: 1\nfilesystem: {workdir: %s}\n' "$mode" >"$tmp/config/cordon/policy.yaml"
	for entry in "$work" . mine; do
		policy <<-END
		filesystem: {workdir: copy, write: ["$entry"]}
		END
		inside sh -c "echo HACK >$work/mine"
		ok "below workdir: $mode no list makes the work folder writable ($entry)" failed_with "which the ceiling keeps narrower"
		is "nothing was written (workdir: $mode, $entry)" "$(cat "$work/mine")" mine
	done
	for entry in work work/mine above; do
		policy <<-END
		filesystem: {workdir: none, write: ["$open/$entry"]}
		END
		inside sh -c "echo HACK >$open/work/mine"
		ok "nor does a link that leads to it (workdir: $mode, $entry)" refused 125 "does not name|symbolic link in"
		is "nothing was written by it (workdir: $mode, $entry)" "$(cat "$work/mine")" mine
	done
done
printf 'version: 1\nfilesystem: {workdir: none}\n' >"$tmp/config/cordon/policy.yaml"
for entry in "$work" "$open/work" "$open/above" /; do
	policy <<-END
	filesystem: {read: ["$entry"]}
	END
	inside cat "$work/mine" "$open/work/mine"
	is "below workdir: none it cannot be read either ($entry)" "$status|$(grep -c mine <<<"$said")" "125|0"
done
rm "$tmp/config/cordon/policy.yaml"

# --- the links of the base system ---

for entry in /lib/os-release /lib/terminfo /bin/bash /bin/sh /sbin/ldconfig; do
	if ! [ -e "$entry" ] || ! [ -L "/$(cut -d/ -f2 <<<"$entry")" ]; then
		skip "programs are found where an entry is behind a link of the base system ($entry)" "it is not behind a link here"
		continue
	fi
	policy <<-END
	filesystem: {read: ["$entry"]}
	END
	inside_says "programs are found where an entry is behind a link of the base system ($entry)" "found $(readlink -f "$entry")" /bin/sh -c '[ -e /bin/env ] && echo found "$(readlink -f "$1")"' sh "$entry"
done

finish
