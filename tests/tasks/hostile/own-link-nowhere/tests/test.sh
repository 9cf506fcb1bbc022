#!/bin/sh
mkdir /app/want; cp /tests/expected.txt /app/want/1
if cmp -s /app/want/1 /app/answer.txt; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
