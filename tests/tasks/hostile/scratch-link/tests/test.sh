#!/bin/sh
cp /tests/expected.txt /tmp/expected.txt
if cmp -s /tmp/expected.txt /app/answer.txt; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
