# shellcheck shell=bash
# What the suites about containers and a host that works on the folders they are shown have in common: source it behind run_lib.sh.
# shellcheck disable=SC2154 # tmp is lib.sh's, work run_lib.sh's

. "$tests_dir/hostsockets_lib.sh"
marker=MARKER-of-the-host
mkdir -p "$tmp/shown/deep"
policy <<END
filesystem:
  workdir: read-only
  read: ["$tmp/shown"]
process:
  timeout: 2m
END

# starts CMD...: a run in the background; what it prints goes to $tmp/got. Returns when it has printed something.
starts()
{
	: >"$tmp/got"
	"$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- sh -c "echo up; $1" sh "${@:2}" >"$tmp/got" 2>"$tmp/told" </dev/null &
	run=$!
	until_true grep -q up "$tmp/got"
}

# unread FILE CHANGE [SECONDS]: the host changes something, and so many seconds later FILE cannot be read, by a run that goes on all the same.
unread()
{
	starts 'until [ -e go ]; do sleep 0.05; done; cat "$1"; echo on' "$1"
	"$2"
	sleep "${3:-0.7}"
	touch go
	# the host itself has it all the time
	find "$work" "$tmp/shown" -name .env ! -perm -u+r >"$tmp/host"
	wait "$run"
	status=$?
	rm go
	cat "$tmp/got" "$tmp/told"
	[ "$status" = 0 ] && grep -q '^on$' "$tmp/got" && ! grep -q "$marker" "$tmp/got" && ! [ -s "$tmp/host" ]
}

replaced()
{
	echo "$marker" >new && mv new .env
}

replaced_often()
{
	local i
	for ((i = 0; i < 40; i++)); do
		replaced
	done
}

made_again()
{
	rm .env && sleep 0.1 && echo "$marker" >.env
}

swapped()
{
	mv .env away && echo "$marker" >.env
}

made_in_a_new_folder()
{
	mkdir -p new/deep && echo "$marker" >new/deep/.env
}

replaced_below()
{
	echo "$marker" >"$tmp/shown/new" && mv "$tmp/shown/new" "$tmp/shown/deep/.env"
}

linked()
{
	echo "$marker" >.env && ln .env other
}

folder_moved()
{
	mv "$tmp/shown" "$tmp/moved" && mkdir "$tmp/shown" && echo "$marker" >"$tmp/moved/deep/new.env" && mv "$tmp/moved/deep/new.env" "$tmp/moved/deep/.env"
}

move_back()
{
	rmdir "$tmp/shown" && mv "$tmp/moved" "$tmp/shown"
}

# A socket or a FIFO that the host makes is a way to a process of the host's.
sockets_are_covered()
{
	asks "$later" "$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- && reaches_none
}

logged()
{
	"$CORDON" logs "$(runs | head -n 1)" | grep -F "$work/.env"
}

# A kept sandbox: its next command comes long after the host's change.
kept()
{
	local id
	echo old >.env
	"$CORDON" run --keep --runtime "$runtime" --policy "$tmp/policy.yaml" -- true 2>"$tmp/told" || return 1
	id=$(sed -n 's/^.*kept as \([^:]*\):.*$/\1/p' "$tmp/told")
	replaced
	made_in_a_new_folder
	sleep 4
	"$CORDON" exec "$id" -- sh -c 'cat .env new/deep/.env; echo on' >"$tmp/got" 2>&1
	"$CORDON" stop "$id"
	rm -rf new
	cat "$tmp/got"
	grep -q '^on$' "$tmp/got" && ! grep -q "$marker" "$tmp/got"
}

# Who is killed cannot cover anything: the sandbox ends.
watch_is_killed()
{
	local p
	starts 'sleep 60'
	for p in $(pgrep -P "$run"); do
		# shellcheck disable=SC2010 # what its descriptors are
		ls -l "/proc/$p/fd" | grep -q inotify && kill -9 "$p"
	done
	wait "$run"
	status=$?
	cat "$tmp/told"
	[ "$status" = 125 ] && grep -q 'watches over denied names' "$tmp/told"
}

# What it has open is its own: none of the supervisor's logs, locks and pipes.
watch_holds_its_own()
{
	local p fd
	starts 'until [ -e go ]; do sleep 0.05; done'
	for p in $(pgrep -P "$run"); do
		# shellcheck disable=SC2010
		ls -l "/proc/$p/fd" | grep -q inotify || continue
		for fd in "/proc/$p/fd"/*; do readlink "$fd"; done
	done >"$tmp/open"
	touch go
	wait "$run"
	rm go
	cat "$tmp/open"
	# the root of the container is /root where gVisor serves it, for an ordinary user
	grep -q inotify "$tmp/open" && ! grep -Ev "^(/|/root|/dev/null|socket:.*|anon_inode:.*|user:.*|($work|$tmp/shown)(/.*)?)\$" "$tmp/open"
}

# A workload moves the folder that leads to what is shown: where it stands now nobody can tell, and the sandbox ends.
out_of_reach()
{
	policy <<END
filesystem:
  workdir: read-write
  read: ["$work/x/shown"]
END
	mkdir -p x/shown && echo old >x/shown/.env
	starts 'mv x y && echo moved && sleep 60'
	until_true grep -q moved "$tmp/got"
	echo "$marker" >x/shown/new && mv x/shown/new x/shown/.env
	wait "$run"
	status=$?
	cat "$tmp/told"
	[ "$status" = 125 ] && grep -q 'could not be hidden' "$tmp/told"
}

# A folder that may be entered and cannot be searched could hold anything; one that is shut cannot.
unsearchable()
{
	starts 'until [ -e go ]; do sleep 0.05; done; echo on; sleep 60'
	chmod 0 "$tmp/shown"
	sleep 4
	touch go
	until_true grep -q on "$tmp/got" || return 1
	chmod 300 "$tmp/shown"
	wait "$run"
	status=$?
	chmod 755 "$tmp/shown"
	rm go
	cat "$tmp/told"
	[ "$status" = 125 ] && grep -q 'cannot be searched any more' "$tmp/told"
}

# A denied file that the policy names is not shown at all: nothing of it appears when the host removes it.
named_alone()
{
	policy <<END
filesystem:
  workdir: none
  read: ["$tmp/alone/.env"]
END
	mkdir -p "$tmp/alone" && echo "$marker" >"$tmp/alone/.env"
	starts 'sleep 1.5; cat "$1"' "$tmp/alone/.env"
	rm "$tmp/alone/.env"
	wait "$run"
	cat "$tmp/got" "$tmp/told"
	! grep -q "$marker" "$tmp/got"
}

# host_changes RUNTIME: all of it.
host_changes()
{
	local kept_policy
	runtime=$1
	if ! "$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- true 2>"$tmp/told" </dev/null; then
		skip "$runtime" "$(head -n 1 "$tmp/told")"
		return
	fi
	kept_policy=$(cat "$tmp/policy.yaml")
	echo old >.env
	ok "$runtime: a denied file that the host replaces stays unreadable" unread .env replaced
	ok "$runtime: ... and the log says that it was covered" logged
	ok "$runtime: ... replaced forty times" unread .env replaced_often
	ok "$runtime: ... deleted and made again" unread .env made_again
	ok "$runtime: ... moved away, with another in its place" unread .env swapped
	rm -f away
	rm .env
	ok "$runtime: a denied file that the host makes at the top of the work folder" unread .env replaced
	ok "$runtime: a denied file that the host makes in a new folder is covered within seconds" unread new/deep/.env made_in_a_new_folder 4
	rm -rf new .env
	ok "$runtime: another name of a denied file is covered within seconds" unread other linked 4
	rm -f other
	echo old >"$tmp/shown/deep/.env"
	ok "$runtime: a denied file in a folder of filesystem.read" unread "$tmp/shown/deep/.env" replaced_below
	ok "$runtime: ... which the host has moved" unread "$tmp/shown/deep/.env" folder_moved
	move_back
	ok "$runtime: sockets and FIFOs that the host makes later, or binds anew, are not reached" sockets_are_covered
	ok "$runtime: a kept sandbox" kept
	ok "$runtime: who watches has nothing open but what it needs" watch_holds_its_own
	ok "$runtime: the sandbox ends when nobody watches any more" watch_is_killed
	ok "$runtime: the sandbox ends when a shown folder cannot be searched any more" unsearchable
	ok "$runtime: the sandbox ends when a name cannot be covered" out_of_reach
	rm -rf x y
	ok "$runtime: a denied file that is named by itself is never shown" named_alone
	printf '%s\n' "$kept_policy" >"$tmp/policy.yaml"
}
