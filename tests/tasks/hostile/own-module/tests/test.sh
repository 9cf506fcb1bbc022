#!/bin/sh
cat >/app/check_answer.py <<'E'
import sys
sys.exit(open('/app/answer.txt').read() != '42\n')
E
cd /app
if python3 -m check_answer; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
