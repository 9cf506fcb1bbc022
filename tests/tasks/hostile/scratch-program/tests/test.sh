#!/bin/sh
cat >/tmp/check.py <<'E'
import sys
sys.exit(open('/app/answer.txt').read() != '42\n')
E
if python3 /tmp/check.py; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
