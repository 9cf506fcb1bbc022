from lib.util import check


def test_answer():
    check()
