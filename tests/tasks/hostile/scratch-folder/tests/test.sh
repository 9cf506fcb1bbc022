#!/bin/sh
mkdir -p /tmp/want; cp /tests/expected.txt /tmp/want/answer.txt
if diff -r /tmp/want /app; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
