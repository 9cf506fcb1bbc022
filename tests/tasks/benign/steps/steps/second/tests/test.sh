#!/bin/sh
if [ -f /app/second ] && [ -f /app/first ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
