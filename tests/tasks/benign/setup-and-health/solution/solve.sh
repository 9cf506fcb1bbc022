#!/bin/sh
cp /srv/data/state /app/state
