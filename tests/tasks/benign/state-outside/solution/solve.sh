#!/bin/sh
set -e
mkdir -p /usr/local/bin
echo "hello from /etc" >/etc/greet.conf
printf '#!/bin/sh\ncat /etc/greet.conf\n' >/usr/local/bin/greet
chmod 755 /usr/local/bin/greet
