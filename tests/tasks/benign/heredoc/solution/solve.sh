#!/bin/sh
./print.sh | sed -n 2p >line
