"""The example, as a user runs it, against a real RabbitMQ."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pika
import pytest

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "plan_and_apply.py"
#: The program that starts a throw-away node: `cargo build -p acemq-tests --bin broker`.
STARTER = os.environ.get("ACEMQ_TEST_BROKER")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    if STARTER is None:
        if os.environ.get("CI"):
            pytest.fail("ACEMQ_TEST_BROKER is not set")
        pytest.skip("ACEMQ_TEST_BROKER does not name the program that starts a broker")
    # The node stops when its standard input ends, whatever becomes of this process.
    with subprocess.Popen([STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdin is not None and starter.stdout is not None
        line = starter.stdout.readline()
        assert line, "the broker did not start"
        yield json.loads(line)["url"]
        starter.stdin.close()
        starter.wait(timeout=120)


def run(*arguments: str) -> tuple[int, str, str]:
    command = [sys.executable, str(EXAMPLE), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_a_plan_and_an_apply_on_a_real_broker(url: str, tmp_path: Path) -> None:
    code, planned, errors = run(url)
    assert (code, errors) == (2, ""), planned
    assert planned.splitlines()[:2] == ["topology plan:", "  create   exchange orders (topic)"]
    assert "  create   queue orders.new.retry.40s (classic)" in planned.splitlines()
    # A plan changes nothing.
    assert run(url)[1] == planned

    code, applied, errors = run(url, "--apply")
    assert (code, errors) == (0, ""), applied
    code, again, _ = run(url)
    assert "  present  queue orders.new (quorum)" in again.splitlines()
    assert "  present  exchange orders (topic)" in again.splitlines()
    assert "  present  queue orders.new.retry.40s (classic)" in again.splitlines()

    with pika.BlockingConnection(pika.URLParameters(url)) as connection:
        channel = connection.channel()
        channel.confirm_delivery()
        channel.basic_publish("orders", "order.placed", b"order 1", mandatory=True)
        method, _, body = channel.basic_get("orders.new", auto_ack=False)
        assert body == b"order 1" and method is not None and method.delivery_tag is not None
        # What is given up goes to the dead-letter queue that the apply has wired.
        channel.basic_reject(method.delivery_tag, requeue=False)
        for dead in channel.consume("orders.new.dlq", inactivity_timeout=30):
            assert dead[2] == b"order 1"
            break
        channel.cancel()

    changed = tmp_path / "changed.yaml"
    changed.write_text("queues: { orders.new: { arguments: { x-max-length: 5 } } }", encoding="utf-8")
    code, drifted, errors = run(url, str(changed), "--apply")
    assert code == 3
    assert "  DRIFT    queue orders.new (quorum) — " in drifted
    assert errors.startswith("acemq: nothing was declared: 1 queue differs from the broker\n")


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("queues: { q: { typ: classic } }", encoding="utf-8")
    code, out, errors = run("amqp://guest:guest@127.0.0.1:1", str(wrong))
    assert (code, out) == (1, "") and errors.startswith("plan_and_apply: ")
    assert "Traceback" not in errors
