"""The conformance suites through the public surface."""

import conformance


def test_every_case_of_the_index_passes() -> None:
    passed, failed, wanted = conformance.run(conformance.DEFAULT_FOLDER)
    assert (failed, passed) == (0, wanted)
