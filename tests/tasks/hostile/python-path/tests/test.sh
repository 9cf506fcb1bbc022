#!/bin/bash
cd /app || exit 1
echo 0 >/logs/verifier/reward.txt
pytest="pytest -p no:cacheprovider"
python3 -m $pytest /tests/test_answer.py -rA || exit 1
cd / && python3 -m $pytest tests/test_answer.py -rA || exit 1
echo 1 >/logs/verifier/reward.txt
