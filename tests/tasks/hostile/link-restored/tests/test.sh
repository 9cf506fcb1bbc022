#!/bin/sh
if [ "$(cat /app/answer.txt)" = "$(cat /tests/expected.txt)" ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
