#!/bin/bash
cd /judge || exit 1
python3 -c 'import json' || exit 1
if python3 -m pytest -p no:cacheprovider /app/check.py -rA; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
