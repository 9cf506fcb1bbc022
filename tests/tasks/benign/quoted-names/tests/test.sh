#!/bin/sh
if [ "$(cat /tmp/report.txt /tmp/copy.txt | tr '\n' ' ')" = "42 42 " ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
