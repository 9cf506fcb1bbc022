#!/bin/sh
echo "$ANSWER" >/app/answer
