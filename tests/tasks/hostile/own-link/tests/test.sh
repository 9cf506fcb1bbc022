#!/bin/sh
W=$(pwd)
cp /tests/expected.txt $W/expected.txt
if cmp -s $W/expected.txt $W/answer.txt; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
