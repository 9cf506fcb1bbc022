#!/bin/sh
# with a package and a module of its own, as pip would have installed the one
echo 42 >/app/answer.txt
mkdir -p /usr/lib/python3/dist-packages/multiply
echo 'answer = 6 * 7' >/usr/lib/python3/dist-packages/multiply/__init__.py
echo 'from multiply import answer' >/app/counting.py
printf 'import counting\nprint(counting.answer)\n' >/app/work.py
