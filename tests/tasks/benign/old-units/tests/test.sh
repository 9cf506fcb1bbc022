#!/bin/sh
if sort /app/names.txt | cmp -s - /app/sorted.txt; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
