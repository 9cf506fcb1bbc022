#!/bin/sh
set -e
sort names.txt >sorted.txt
