#!/bin/sh
D=$(pwd)
cp /tests/check.py $D/check.py
if python3 $D/check.py; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
