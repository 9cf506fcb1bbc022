#!/bin/bash
echo 0 >/logs/verifier/reward.txt
cd /app/project || exit 1
python3 -m pytest -p no:cacheprovider /tests/test_answer.py -rA || exit
cd /tests || exit
PYTHONPATH=/app/lib python3 -m pytest -p no:cacheprovider /tests/test_answer.py -rA || exit
. /app/env/bin/activate
python3 -m pytest -p no:cacheprovider /tests/test_answer.py -rA || exit
echo 1 >/logs/verifier/reward.txt
