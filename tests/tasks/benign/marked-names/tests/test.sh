#!/bin/sh
if [ "$(cat '/tmp/my answer.txt' /tmp/the_answer.txt '/tmp/q&a.txt' | tr '\n' ' ')" = "42 42 42 " ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
