#!/bin/sh
if [ "$(cat /home/worker/id)" = 1000 ] || [ "$(cat /home/worker/id)" = 0 ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
