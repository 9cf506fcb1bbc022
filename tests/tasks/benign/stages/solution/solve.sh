#!/bin/sh
tool >/app/out
