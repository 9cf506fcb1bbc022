#!/bin/sh
cp /app/score.txt /logs/verifier/reward.json
