import subprocess
import sys


def test_work():
    ran = subprocess.run([sys.executable, "/app/solution.py"], capture_output=True, text=True, check=True)
    assert ran.stdout == "42\n"
