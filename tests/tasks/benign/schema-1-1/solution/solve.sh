#!/bin/sh
wc -w <"$TEXT" | tr -d " " >/work/count
