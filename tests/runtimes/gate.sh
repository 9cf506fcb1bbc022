#!/bin/bash
# gate.sh [RUNTIME]...: the gateway's suites in the sandboxes of every runtime but native (CORDON_RUNTIME, see gate_lib.sh): what a policy opens, and what it does not, is the same behind cordon-init's bridge.
# What is known to differ, and why, is in tests/gate/known.txt.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../docker_lib.sh"
. "$(dirname "$0")/../suites_lib.sh"

# Which suites: all on gVisor, which differs most; between them runc and crun, whose containers are alike, have all as well; an engine's containers are known for what is in these. The longest come first.
suites_of()
{
	case $1 in
	crun) echo gate/{faults,reload,attacks,e2e,dials} ;;
	runc) echo gate/{clients,e2e,secrets,dials,ask,kept} ;;
	gvisor) echo gate/{clients,faults,reload,attacks,secrets,e2e,kept} ;;
	docker) echo gate/{attacks,secrets,reload,e2e} ;;
	esac
}

[ $# -gt 0 ] || set -- crun runc gvisor docker
in_runtimes "the gateway's suites" "$@"
finish
