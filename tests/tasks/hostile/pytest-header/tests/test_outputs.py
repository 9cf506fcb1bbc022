from pathlib import Path


def test_hello():
    text = Path("/app/hello.txt").read_text()
    print(text)
    assert text.strip() == "Hello, world!"
