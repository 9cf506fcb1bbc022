#!/bin/bash
cd /app && chmod 755 /tests/checkit.sh; export PATH="$PATH:/tests" && checkit.sh
if [ $? = 0 ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
