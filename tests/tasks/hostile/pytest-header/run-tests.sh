#!/bin/bash
python3 -m pytest -p no:cacheprovider "$TEST_DIR/test_outputs.py" -rA
