#!/bin/bash
# tasks.sh [RUNTIME]...: benchmark tasks on every runtime but native: the oracle gets the same reward everywhere, and no cheat gets one anywhere.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../docker_lib.sh"
. "$(dirname "$0")/../suites_lib.sh"
suite_seconds=1200

suites_of()
{
	echo task/{hostile,benign,services,volumes,spoiled}
}

[ $# -gt 0 ] || set -- runc gvisor docker crun
in_runtimes "tasks" "$@"
finish
