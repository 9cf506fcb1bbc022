#!/bin/bash
cd /app && export PATH="$PATH:/tests" && source common.sh && verify_it
if [ $? = 0 ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
