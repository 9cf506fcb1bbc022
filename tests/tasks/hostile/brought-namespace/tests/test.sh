#!/bin/bash
cd /app && PYTHONPATH=/app:/tests python3 -m pytest -p no:cacheprovider -q --import-mode=importlib /tests/test_answer.py
if [ $? = 0 ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
