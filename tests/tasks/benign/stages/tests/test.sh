#!/bin/sh
if [ "$(cat /app/out)" = "built here" ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
