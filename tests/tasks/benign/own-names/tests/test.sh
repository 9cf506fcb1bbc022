#!/bin/bash
cd /app && PYTHONPATH=/tests python3 -m pytest -p no:cacheprovider -q /tests/test_work.py && cmp /app/data/two.txt /tests/data/two.txt && python3 -c "import utils.text; assert utils.text.up('a') == 'A'"
if [ $? = 0 ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
