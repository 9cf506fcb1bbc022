#!/bin/sh
if [ "$(cat /work/count)" = 5 ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
