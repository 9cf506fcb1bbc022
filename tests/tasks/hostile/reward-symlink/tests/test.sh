#!/bin/sh
echo 1 >/app/out
[ "$(cat /app/answer.txt 2>/dev/null)" = 42 ] && r=1 || r=0
[ -e /logs/verifier/reward.txt ] || echo $r >/logs/verifier/reward.txt
