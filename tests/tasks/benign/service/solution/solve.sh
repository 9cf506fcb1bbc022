#!/bin/sh
wget -q -O /app/word http://store:8080/word
