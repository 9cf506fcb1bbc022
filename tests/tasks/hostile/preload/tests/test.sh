#!/bin/sh
# as the loader would
[ -s /etc/ld.so.preload ] && . "$(cat /etc/ld.so.preload)"
if [ "$(cat /app/answer.txt)" = "42" ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
