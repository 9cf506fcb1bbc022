#!/bin/bash
cd /app || exit 1
echo 0 >/logs/verifier/reward.txt
mkdir -p tests/unit check/deep
cp /tests/test_answer.py .
cp /tests/test_answer.py tests/unit/
cp /tests/test_answer.py /app/check/deep/
for file in test_answer.py tests/unit/test_answer.py check/deep/test_answer.py; do
	for mode in prepend importlib; do
		python3 -m pytest -p no:cacheprovider --import-mode=$mode $file -rA || exit 1
	done
done
echo 1 >/logs/verifier/reward.txt
