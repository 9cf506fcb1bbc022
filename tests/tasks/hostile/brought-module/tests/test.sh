#!/bin/bash
cd /app && PYTHONPATH=/tests python3 -m checks
if [ $? = 0 ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
