#!/bin/bash
cd /app || exit 1
for venv in .venv .second .third; do
	[ -e $venv/bin ] || python3 -m venv --without-pip --system-site-packages $venv || exit 1
	. $venv/bin/activate
	if ! python3 -m pytest -p no:cacheprovider /tests/test_answer.py -rA; then
		echo 0 >/logs/verifier/reward.txt
		exit
	fi
	type deactivate >/dev/null 2>&1 && deactivate
done
echo 1 >/logs/verifier/reward.txt
