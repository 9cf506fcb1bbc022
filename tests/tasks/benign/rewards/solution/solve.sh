#!/bin/sh
touch /app/a /app/b
