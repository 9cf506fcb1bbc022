#!/bin/bash
# copies.sh [RUNTIME]...: what comes back from a copy of a work folder is what a native sandbox would have left there: files of other users, times, folders that are read-only for their owner, and what was hidden.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"
need_static_init

# inside CMD...: in the runtime at hand.
inside()
{
	outside "$CORDON" run --runtime "$runtime" --policy "$tmp/policy.yaml" -- "$@" </dev/null
}

fresh()
{
	cd "$tmp" && chmod -R u+w "$work" && rm -rf "$work" && mkdir "$work" && cd "$work" || exit 99
}

# What of the work folder is whose.
whose()
{
	find . -mindepth 1 -printf '%p %m %U:%G\n' | sort
	tail -n +1 public mine/theirs odd/ours
}

others()
{
	local mode was
	if ! is_root; then
		skip "$runtime: other users' files" "needs root, to make them"
		return
	fi
	for mode in read-write copy; do
		policy <<<"filesystem: {workdir: $mode}"
		fresh
		echo secret >private && echo theirs >public && echo theirs >moved && mkdir shut odd mine && echo deep >shut/f && echo ours >odd/ours && echo theirs >mine/theirs && echo x >mine/x && echo group >group && echo shared >shared
		chown 4242:4242 private public moved mine/theirs && chown 4242 shared odd && chown -R 4242 shut && chgrp 4242 group && chmod 600 private && chmod 666 public && chmod 700 shut && chmod 777 odd && chmod 640 shared && chmod 660 group
		was=$(whose)
		inside cat public group shared odd/ours mine/theirs
		is "$runtime, $mode: other users' files are read as far as their mode allows" "$said" $'theirs\ngroup\nshared\nours\ntheirs'
		inside sh -c 'cat private shut/f'
		is "$runtime, $mode: ... and no further" "$(grep -c denied <<<"$told"):$said" 2:
		inside sh -c 'for f in public group shared; do echo x >$f; done; echo x >odd/new; rm -f odd/ours; chmod 777 group'
		is "$runtime, $mode: ... and none is written to, nor its folder" "$(grep -c 'denied\|not permitted\|too large' <<<"$told")" 6
		is "$runtime, $mode: ... and all is as it was, and nothing to be said about it" "$(whose):$(grep 'not brought back' <<<"$told")" "$was:"
		inside sh -c 'rm -f public; echo mine >public; mv moved elsewhere; rm -f private; rm -rf shut; mkdir shut; echo x >shut/new; echo new >made; mv group group2; ln shared link; mv odd odd2'
		if [ "$mode" = copy ]; then
			outside "$CORDON" apply --skip-refused "$(runs | head -n 1)"
			"$CORDON" apply --force --skip-refused "$(runs | head -n 1)" >/dev/null 2>&1
		fi
		is "$runtime, $mode: removed, replaced, moved: what is others' is as it was" "$(whose | grep -v '^./made ')" "$was"
		is "$runtime, $mode: ... and the rest comes back" "$(cat made)" new
		[ "$runtime" = native ] || like "$runtime, $mode: ... and it is said, file by file" "$told$("$CORDON" diff --list "$(runs | head -n 1)")" 'private.*belongs to somebody else'
	done
	policy <<<"filesystem: {workdir: read-write}"
	fresh
	chown 4242:4242 . && echo root >rootfile && chmod 600 rootfile && echo his >his && chown 4242:4242 his && chmod 600 his
	inside sh -c 'cat his; echo more >>his; cat rootfile; rm -f rootfile; echo new >new'
	is "$runtime: in another's folder, what is his is the workload's, and root's is not" "$said:$(cat his rootfile | tr '\n' ' '):$(stat -c %U:%a rootfile):$(stat -c %u his new | tr '\n' ' ')" "his:his more root :root:600:4242 4242 "
}

times()
{
	policy <<<"filesystem: {workdir: read-write}"
	fresh
	printf 'out: in\n\tcp in out\n' >Makefile && echo old >in
	inside sh -c 'cp in out; touch -d 2001-01-01 out; touch -d "2002-01-01 01:02:03.123456789" in; echo new >in; touch -d "2002-01-01 01:02:03.123456789" in; mkdir d; echo x >d/f; ln -s f d/l; touch -h -d 2003-01-01 d/l; touch -d 2004-01-01 d/f; touch -d 2005-01-01 d'
	is "$runtime: what is new or changed has the times that it has inside" "$(TZ=UTC stat -c '%n %.9Y' in out d/f d/l d | cut -d' ' -f2 | tr '\n' ' ')" "1009846923.123456789 978307200.000000000 1072915200.000000000 1041379200.000000000 1104537600.000000000 "
	ok "$runtime: ... so that what was out of date inside is so outside" [ in -nt out ]
	inside mkdir -m 1777 sticky
	is "$runtime: a new folder keeps its sticky bit" "$(stat -c %a sticky)" 1777
	[ "$runtime" = native ] || return 0
	policy <<<"filesystem: {workdir: copy}"
	inside sh -c 'echo 1 >first; echo 2 >second; ln -s first l; touch -h -d 2003-01-01 l; touch -d 2004-01-01 first; touch -d 2001-01-01 second'
	"$CORDON" apply "$(runs | head -n 1)" >/dev/null 2>&1
	is "native: so has what is applied" "$(TZ=UTC stat -c '%Y' first second l | tr '\n' ' ')" "1072915200 978307200 1041379200 "
	inside sh -c 'echo 1 >a; ln a b'
	"$CORDON" apply "$(runs | head -n 1)" >/dev/null 2>&1
	is "native: what is applied keeps its hard links" "$(stat -c %h a b | tr '\n' ' ')" "2 2 "
}

shut_folders()
{
	policy <<<"filesystem: {workdir: read-write}"
	fresh
	mkdir vendor && echo 1 >vendor/old && echo 1 >vendor/gone && chmod 555 vendor
	inside sh -c 'echo work >result; chmod u+w vendor; echo n >vendor/new; echo 2 >vendor/old; rm vendor/gone; chmod u-w vendor'
	is "$runtime: what changes in a folder that is read-only for its owner comes back like all else" "$status:$(cat result vendor/new vendor/old | tr '\n' ' '):$(cd vendor && echo *):$(stat -c %a vendor)" "0:work n 2 :new old:555"
}

names_of_one_file()
{
	policy <<<"filesystem: {workdir: read-write}"
	fresh
	echo h >one && ln one two && mkdir sub && ln one sub/three && echo c >.envrc && ln .envrc other
	inside sh -c 'echo added >>one; cat sub/three; echo x >new; ln new new2; mkdir d; echo y >d/a; ln d/a d/b; echo more >>other'
	is "$runtime: names of one file are that inside, and stay it" "$(head -n 2 <<<"$said" | tr '\n' ' '):$(cat one two sub/three | tr '\n' ' '):$(stat -c %h one two sub/three new new2 d/a d/b | tr '\n' ' ')" "h added :h added h added h added :3 3 3 2 2 2 2 "
	is "$runtime: ... and what is protected is so under its other name" "$(cat .envrc other | tr '\n' ' ')" "c c "
}

# Half a copy is none of which the run removed the rest.
killed_apply()
{
	local kill_at=$CORDON_BUILD/tests/kill-at steps i bad=
	[ "$runtime" != native ] || return 0
	policy <<<"filesystem: {workdir: copy}"
	for ((i = 0; i < 12; i++)); do
		fresh
		touch {a,b,c,d,e}{1,2,3,4,5}
		inside sh -c 'echo new >made'
		"$kill_at" $((i ? steps - 5 * i : 0)) "$tmp/count" "$CORDON" apply "$(runs | head -n 1)" >/dev/null 2>&1
		((i)) || steps=$(<"$tmp/count")
		"$CORDON" apply --force "$(runs | head -n 1)" >/dev/null 2>&1
		[ "$(echo ?? | wc -w)" = 25 ] && [ "$(cat made)" = new ] || bad+=" $((steps - 5 * i))"
	done
	is "$runtime: an apply that is killed when all was applied has the next one remove nothing" "$bad" ""
}

# A name that is denied by what it is another name of.
hidden()
{
	policy <<<"filesystem: {workdir: read-write}"
	fresh
	mkdir conf && echo secret >conf/.env && ln conf/.env conf/hard && echo x >conf/x
	inside sh -c 'mv conf conf2; cat conf2/hard'
	is "$runtime: what stood for a hidden file is not brought back under a new name" "$(ls -d conf2/hard conf2/.env 2>/dev/null):$(grep -l . conf/hard conf/.env | tr '\n' ' ')" ":conf/hard conf/.env "
}

[ $# -gt 0 ] || set -- native gvisor runc crun
for runtime; do
	case $runtime in native | docker) program="sh" ;; gvisor) program=runsc ;; *) program=$runtime ;; esac
	if ! PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin command -v "$program" >/dev/null; then
		skip "$runtime" "not installed"
		continue
	fi
	inside true # what differs from native is said once
	for part in killed_apply others names_of_one_file times shut_folders hidden; do "$part"; done
done
finish
