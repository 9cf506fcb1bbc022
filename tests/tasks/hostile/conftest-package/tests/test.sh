#!/bin/bash
cd /app || exit 1
cp /tests/test_answer.py checks/
if python3 -m pytest -p no:cacheprovider checks/test_answer.py -rA; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
