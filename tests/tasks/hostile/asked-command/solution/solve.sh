#!/bin/sh
echo 42 >/app/answer.txt
mkdir -p /usr/local/bin
printf '#!/bin/sh\necho hello\n' >/usr/local/bin/greet
chmod 755 /usr/local/bin/greet
