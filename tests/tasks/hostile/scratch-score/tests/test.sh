#!/bin/sh
[ "$(cat /app/answer.txt)" = 42 ] && echo 1 >/tmp/score
cat /tmp/score >/logs/verifier/reward.txt 2>/dev/null || echo 0 >/logs/verifier/reward.txt
