#!/bin/bash
cd /app && PYTHONPATH=/tests python3 -m pytest -p no:cacheprovider -p judging -q /tests/test_answer.py
if [ $? = 0 ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
