def test_answer(want):
    assert open("/app/answer.txt").read().strip() == want
