#!/bin/bash
# Denied names stay unreadable in containers although the host's user works on them: in folders that a container is shown as they are.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"
. "$tests_dir/hostchange_lib.sh"
need_static_init

for r in ${OCI_RUNTIMES:-gvisor runc crun}; do
	host_changes "$r"
done
finish
