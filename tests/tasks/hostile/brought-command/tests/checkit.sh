#!/bin/bash
grep -qx 42 /app/answer.txt
