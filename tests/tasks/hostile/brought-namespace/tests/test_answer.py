from helpers.core import check


def test_answer():
    check()
