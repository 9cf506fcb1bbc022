#!/bin/sh
if [ "$(cat /app/project/tests/expected.txt)" = "$(cat /tests/expected.txt)" ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
