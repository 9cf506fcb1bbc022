#!/bin/sh
# an honest one may have had an environment of its own
cd /app && python3 -m venv --without-pip .venv && .venv/bin/python -c 'open("/app/answer.txt", "w").write("42\n")'
