#!/bin/sh
echo 42 >/app/answer.txt
touch /app/other
mkdir -p /logs/artifacts/sub
echo more >/logs/artifacts/sub/more
