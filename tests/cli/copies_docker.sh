#!/bin/bash
# The same as copies.sh with a Docker Engine of the suite's own.
. "$(dirname "$0")/../lib.sh"
rm -rf -- "$tmp"
exec "$tests_dir/tools/with_engine.sh" "copies of work folders" "$tests_dir/cli/copies.sh" docker
