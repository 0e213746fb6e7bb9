"""Bear-off tables are built once for all tests, and leave nothing in the user's cache."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZAR_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
