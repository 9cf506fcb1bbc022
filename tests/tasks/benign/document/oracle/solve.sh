#!/bin/sh
echo document >/app/word
