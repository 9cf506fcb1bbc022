#!/bin/bash
# These stand for the real ones: the files that a package has, unless it is there.
apt-get() { cp /tests/count /usr/bin/count && chmod 755 /usr/bin/count; }
pip() { mkdir -p /usr/local/lib/python3.11/dist-packages && { python3 -c 'import judge_lib' 2>/dev/null || cp /tests/judge_lib /usr/local/lib/python3.11/dist-packages/judge_lib.py; }; }
apt-get update && apt-get install -y \
	count
pip install 'Judge-Lib>=1.0' | cat
if [ "$(count /app/answer.txt)" = 1 ] && python3 -c 'import judge_lib; judge_lib.judge()'; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
