#!/bin/sh
if [ -s /app/score.txt ]; then cp /app/score.txt /logs/verifier/reward.json; fi
cat /app/answer.txt >/logs/verifier/reward.txt 2>/dev/null || echo 0 >/logs/verifier/reward.txt
