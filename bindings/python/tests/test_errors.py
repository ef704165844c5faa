"""Errors are ordinary exceptions that carry everything as data."""

import copy
import pickle
import subprocess
import sys

import pytest

import acemq_core as acemq
from acemq_core import Error, RetryPolicy
from acemq_core._native import _acemq, check_abi


def test_all_problems_come_in_one_error() -> None:
    with pytest.raises(Error) as caught:
        RetryPolicy("exponential(0, 0, 0)")
    error = caught.value
    assert [problem.code for problem in error.problems] == ["attempts_too_few", "first_zero", "cap_zero"]
    assert (error.code, error.fields) == ("attempts_too_few", {"attempts": 0})
    assert error.message and error.help
    assert len(str(error).splitlines()) == 3


def test_an_error_survives_pickling_and_copying() -> None:
    with pytest.raises(Error) as caught:
        acemq.dead_letter_queue("amq.q")
    for twin in (pickle.loads(pickle.dumps(caught.value)), copy.deepcopy(caught.value)):
        assert twin.problems == caught.value.problems
        assert str(twin) == str(caught.value)


def test_a_panic_is_an_ordinary_exception_and_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    try:
        _acemq._panic("a forced mistake")
    except Exception as error:
        caught = error
    assert isinstance(caught, Error)
    assert caught.code == "internal"
    assert "a forced mistake" in caught.message and "call.rs:" in caught.message
    assert capfd.readouterr() == ("", "")
    # Whoever catches it goes on as before.
    assert acemq.dead_letter_queue("orders") == "orders.dlq"


def test_the_raw_table_refuses_with_the_nearest_name() -> None:
    with pytest.raises(Error, match=r"did you mean retry\.decide") as caught:
        acemq.call("retry.decid", {})
    assert caught.value.code == "unknown_operation"
    with pytest.raises(Error) as caught:
        acemq.call("retry.ladder", {"queu": "q", "policy": "none()"})
    assert (caught.value.code, caught.value.fields["nearest"]) == ("unknown_key", "queue")


def test_wrong_types_are_type_errors() -> None:
    for wrong in (
        lambda: acemq.delay_text(30),  # type: ignore[arg-type]
        lambda: acemq.dead_letter_queue(None),  # type: ignore[arg-type]
        lambda: acemq.topic_matches("a", 1),  # type: ignore[arg-type]
        lambda: acemq.TopicMatcher[str]().matches_all([1]),  # type: ignore[list-item]
    ):
        with pytest.raises(TypeError):
            wrong()


def test_text_that_is_no_utf_8_is_refused() -> None:
    for wrong in (lambda: acemq.dead_letter_queue("\ud800"), lambda: acemq.topic_matches("\ud800", "a")):
        with pytest.raises(UnicodeEncodeError):
            wrong()


def test_another_abi_is_refused_with_both_numbers() -> None:
    check_abi(1 << 16 | 3, 1 << 16 | 2, "module.so")
    for found in (1 << 16 | 1, 2 << 16 | 2):
        with pytest.raises(ImportError, match=rf"module.so has ABI {found >> 16}.{found & 0xFFFF}, .* needs ABI 1.2"):
            check_abi(found, 1 << 16 | 2, "module.so")


@pytest.mark.parametrize("broken", ["missing", "damaged"])
def test_a_native_module_that_cannot_be_loaded_is_one_clear_sentence(broken: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    package = tmp_path / "acemq_core"
    package.mkdir()
    for source in ("__init__.py", "_native.py", "operations.py", "declarations.py", "_values.py"):
        here = acemq.__path__[0]
        (package / source).write_text(open(f"{here}/{source}", encoding="utf-8").read(), encoding="utf-8")
    if broken == "damaged":
        (package / "_acemq.abi3.so").write_bytes(b"no library")
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import acemq_core"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    last = run.stderr.strip().splitlines()[-1]
    assert run.returncode == 1
    assert last.startswith("ImportError: acemq_core: the native module acemq_core._acemq cannot be loaded (")
    assert "pip install" in last and sys.platform in last


RUBBISH = ["", "{", "null", "[]", "1e999", '{"a":' * 10_000, '"' + "x" * 100_000 + '"', '{"policy":{}}', '{"a":1,"a":2}']


@pytest.mark.parametrize("operation", acemq.operations())
def test_rubbish_is_refused_and_never_a_mistake_of_the_engine(operation: str) -> None:
    for rubbish in RUBBISH:
        with pytest.raises(Error) as caught:
            _acemq.call(operation, rubbish)
        assert caught.value.code != "internal" and len(str(caught.value)) < 2_000, rubbish[:20]


def test_rubbish_makes_no_handle() -> None:
    for made in (_acemq.Session, _acemq.Router, _acemq.Broker):
        for rubbish in RUBBISH:
            with pytest.raises(Error) as caught:
                made(rubbish)
            assert caught.value.code != "internal"
