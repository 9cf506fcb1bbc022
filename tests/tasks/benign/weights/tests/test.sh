#!/bin/sh
if grep -q weights /app/model.pth && [ "$(/app/venv/bin/python -c 'import mine; print(mine.answer)')" = 42 ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
