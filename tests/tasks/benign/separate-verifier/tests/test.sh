#!/bin/sh
if cmp -s /judge/expected /app/answer.txt && [ ! -e /app/other ] && [ "$JUDGE $PWD $(cat /logs/artifacts/sub/more)" = "fair /judge more" ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
