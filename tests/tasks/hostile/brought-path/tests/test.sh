#!/bin/bash
cd /app && python3 - <<'E'
import importlib
import sys
sys.path.append('/tests')
importlib.import_module('ver' + 'ify').check()
E
if [ $? = 0 ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
