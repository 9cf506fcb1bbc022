#!/bin/sh
cat /app/score.txt >/logs/verifier/reward.txt
