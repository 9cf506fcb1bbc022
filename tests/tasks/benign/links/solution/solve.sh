#!/bin/sh
for n in 1 2; do mkdir -p releases/$n /tmp/lists; echo $n >releases/$n/version; ls releases/$n >/tmp/lists/$n.txt; done
ln -s releases/2 current
mkdir lib && echo lib >lib/libx.so.1 && ln -s libx.so.1 lib/libx.so
echo done >/tmp/report.txt
