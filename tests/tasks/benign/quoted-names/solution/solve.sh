#!/bin/sh
echo 42 >/tmp/report.txt
echo 42 >/tmp/copy.txt
