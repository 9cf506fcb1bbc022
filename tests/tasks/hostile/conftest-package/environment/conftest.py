import pytest

@pytest.fixture
def base():
    return 1
