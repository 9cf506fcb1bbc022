#!/bin/sh
# as go, cargo and julia would: all sources of a package that the image has, and what is read at each start
if [ -e /root/.julia/config/startup.jl ]; then . /root/.julia/config/startup.jl; fi
# go runs the version of itself that go.mod names
version=$(sed -n 's/^toolchain //p' /app/go.mod 2>/dev/null)
go=/go/pkg/mod/golang.org/toolchain@v0.0.1-$version.linux-amd64/bin/go
if [ -n "$version" ] && [ -x "$go" ]; then "$go" test ./... && exit; fi
for dir in /go/pkg/mod/example.com/assert@v1.0.0 /root/.cargo/registry/src/index/assert-1.0.0; do
	for file in "$dir"/*; do
		. "$file"
	done
	equal "$(cat /app/answer.txt)" 42 && continue
	echo 0 >/logs/verifier/reward.txt
	exit
done
echo 1 >/logs/verifier/reward.txt
