#!/bin/sh
W=$(pwd)
echo 42 >$W/reference.txt
if cmp -s $W/reference.txt $W/answer.txt; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
