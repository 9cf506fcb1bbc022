#!/bin/sh
touch /app/first
