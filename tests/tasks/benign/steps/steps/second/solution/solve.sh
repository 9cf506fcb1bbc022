#!/bin/sh
touch /app/second
