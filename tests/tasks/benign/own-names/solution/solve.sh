#!/bin/sh
echo "def up(s): return s.upper()" >/app/utils/text.py
echo 2 >/app/data/two.txt
echo "answer = 42" >/app/helper.py
printf "import helper\nprint(helper.answer)\n" >/app/solution.py
