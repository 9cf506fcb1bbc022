#!/bin/sh
if [ "$JUDGE_MODEL" = none ] && [ "$(cat /app/answer)" = "$ANSWER" ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
