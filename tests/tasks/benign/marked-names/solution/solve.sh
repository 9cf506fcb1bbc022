#!/bin/sh
echo 42 | tee '/tmp/my answer.txt' /tmp/the_answer.txt >'/tmp/q&a.txt'
