#!/bin/bash
cp -r /tests /app/verify && cd /app && python3 -m verify.checks
if [ $? = 0 ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
