#!/bin/sh
ls src >list
