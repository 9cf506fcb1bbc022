#!/bin/bash
# Denied and protected names stay covered although the host's user works on them while a sandbox runs.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/run_lib.sh"

marker=MARKER-of-the-host

# reader FILE: a run that tries to read FILE and to write to it, again and again, for about a second; what it got goes to $tmp/got.
reader()
{
	"$CORDON" run -- sh -c 'i=0; while [ $i -lt 100 ]; do cat "$1"; echo planted >>"$1"; i=$((i + 1)); sleep 0.01; done' sh "$1" >"$tmp/got" 2>/dev/null &
	run=$!
	sleep 0.3
}

holds()
{
	wait "$run"
	! grep -q "$marker" "$tmp/got" && ! grep -rq planted "$work"
}

a_file_is_replaced_by_rename()
{
	echo old >.env
	reader .env
	echo "$marker" >new && mv new .env
	holds
}

a_file_is_deleted_and_made_again()
{
	echo old >.env
	reader .env
	rm .env && sleep 0.1 && echo "$marker" >.env
	holds
}

a_protected_file_is_replaced()
{
	git init -q . && reader .git/config
	cp .git/config new && mv new .git/config
	wait "$run"
	! grep -q planted .git/config
}

ok "a denied file that the host replaces stays unreadable" a_file_is_replaced_by_rename
ok "a denied file that the host deletes and makes again stays unreadable" a_file_is_deleted_and_made_again
ok "a protected file that the host replaces stays read-only" a_protected_file_is_replaced
finish
