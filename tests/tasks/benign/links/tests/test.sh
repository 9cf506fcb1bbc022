#!/bin/sh
cp /tmp/report.txt /tmp/copy.txt
if [ "$(readlink /app/current)" = releases/2 ] && [ "$(cat /app/current/version)" = 2 ] && [ -s /tmp/copy.txt ] && [ -f /tmp/lists/1.txt ] && [ "$(cat /app/lib/libx.so)" = lib ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
