#!/bin/sh
[ "$(cat answer.txt)" = 42 ] || echo FAILED >/app/test.log
if grep -q FAILED /app/test.log 2>/dev/null; then echo 0; else echo 1; fi >/logs/verifier/reward.txt
