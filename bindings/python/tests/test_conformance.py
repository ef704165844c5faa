"""The conformance suites through the public surface."""

import acemq_core as acemq
import conformance


def test_every_case_of_the_index_passes() -> None:
    passed, failed, wanted = conformance.run(conformance.DEFAULT_FOLDER)
    assert (failed, passed) == (0, wanted)


def test_every_operation_of_the_table_has_a_typed_call() -> None:
    # A new operation gets a typed call, and the runner one line that uses it.
    assert set(acemq.operations()) <= set(conformance.CALLS)
