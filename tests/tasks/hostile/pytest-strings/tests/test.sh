#!/bin/bash
for f in a b; do
	cd /app/$f || exit 1
	cp /tests/test_answer.py . || exit 1
	if ! python3 -m pytest -p no:cacheprovider -rA; then
		echo 0 >/logs/verifier/reward.txt
		exit
	fi
done
echo 1 >/logs/verifier/reward.txt
