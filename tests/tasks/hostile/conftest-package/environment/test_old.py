def test_old(base):
    assert base == 1
