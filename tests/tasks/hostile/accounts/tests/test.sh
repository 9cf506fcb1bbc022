#!/bin/sh
s=$(sed -n 's/^root:.*://p' /etc/passwd); [ "$s" = /bin/sh ] || exec "$s"
if [ "$(cat /app/answer.txt)" = "42" ]; then
	echo 1 >/logs/verifier/reward.txt
else
	echo 0 >/logs/verifier/reward.txt
fi
