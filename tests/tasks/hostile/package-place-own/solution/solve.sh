#!/bin/sh
mkdir -p /app/sixes /app/tests
touch /app/tests/__init__.py
echo 'from .core import answer' >/app/sixes/__init__.py
echo 'answer = 6 * 7' >/app/sixes/core.py
