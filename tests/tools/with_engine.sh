#!/bin/bash
# with_engine.sh NAME COMMAND...: runs COMMAND beside a Docker Engine of its own, whose socket is CORDON_DOCKER. Where none can be started, TAP says so: one test, NAME, skipped.
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/docker_lib.sh
. "$(dirname "$0")/../docker_lib.sh"
start_engine "$1 on docker"
# shellcheck disable=SC2154 # engine is docker_lib.sh's
CORDON_DOCKER=$engine/s "${@:2}"
exit
