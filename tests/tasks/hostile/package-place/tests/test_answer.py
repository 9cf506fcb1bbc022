import subprocess


def test_answer():
    said = subprocess.run(["python3", "-c", "import sixes; print(sixes.answer)"], cwd="/app", capture_output=True, text=True)
    assert said.stdout == "42\n"
