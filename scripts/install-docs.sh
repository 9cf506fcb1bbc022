#!/bin/bash
# install-docs.sh BUILD_DIR PREFIX: man pages and completions, made by the program itself, into PREFIX/share.

set -eu
cordon=$1/cordon
share=$2/share
src=$(cd "$(dirname "$0")/.." && pwd)
install -d "$share/man/man1" "$share/man/man5" "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d"
"$cordon" man --list | while IFS= read -r verb; do
	# shellcheck disable=SC2086 # "policy check" is two words
	"$cordon" man $verb >"$share/man/man1/cordon${verb:+-${verb// /-}}.1"
done
install -m 644 "$src"/man/*.5 "$share/man/man5/"
"$cordon" completion bash >"$share/bash-completion/completions/cordon"
"$cordon" completion zsh >"$share/zsh/site-functions/_cordon"
"$cordon" completion fish >"$share/fish/vendor_completions.d/cordon.fish"
