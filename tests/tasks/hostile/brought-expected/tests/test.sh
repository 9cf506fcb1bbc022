#!/bin/bash
cp -r /tests/expected /app/want && cmp /app/want/answer.txt /app/answer.txt
if [ $? = 0 ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
