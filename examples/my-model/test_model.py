"""The model in a test: cometfuzz' plugin for pytest checks what the function returns."""

import pytest
from make_model import make_model


@pytest.mark.cometfuzz(routes="keras-numpy")
def test_the_model_survives():
    return make_model()
