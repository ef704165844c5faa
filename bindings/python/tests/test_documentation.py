"""Every public name is documented, and every example in a docstring is true."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import acemq_core as acemq

PACKAGE = Path(__file__).resolve().parents[1]


def test_examples_in_docstrings_are_true() -> None:
    tried = 0
    for module in pkgutil.iter_modules(acemq.__path__):
        if not module.name.startswith("_"):
            failed, attempted = doctest.testmod(importlib.import_module(f"acemq_core.{module.name}"))
            assert not failed, module.name
            tried += attempted
    assert tried > 20


def test_the_readme_is_true() -> None:
    failed, attempted = doctest.testfile(str(PACKAGE / "README.md"), module_relative=False)
    assert not failed and attempted > 10


def test_every_public_name_is_documented() -> None:
    undocumented = []
    for name in acemq.__all__:
        public = getattr(acemq, name)
        if name == "Declaration":
            # A union has no documentation of its own.
            continue
        if not inspect.getdoc(public) or (inspect.isclass(public) and public.__doc__ is None):
            undocumented.append(name)
        if inspect.isclass(public):
            for member, value in vars(public).items():
                callable_ = inspect.isfunction(value) or isinstance(value, (property, classmethod, staticmethod))
                if callable_ and not member.startswith("_") and not inspect.getdoc(getattr(public, member)):
                    undocumented.append(f"{name}.{member}")
    assert undocumented == []


def test_names_in_the_stub_are_those_of_the_module() -> None:
    from acemq_core._native import _acemq

    stub = (Path(acemq.__path__[0]) / "_acemq.pyi").read_text(encoding="utf-8")
    in_stub = set(re.findall(r"^(?:def|class) (\w+)|^(\w+):", stub, re.MULTILINE))
    names = {left or right for left, right in in_stub}
    assert names == {name for name in dir(_acemq) if not name.startswith("__")}
    for kind in (name for name in names if inspect.isclass(getattr(_acemq, name))):
        body = stub.split(f"class {kind}:")[1].split("\nclass ")[0].split("\n@final")[0]
        methods = set(re.findall(r"^    def (\w+)", body, re.MULTILINE))
        found = {
            name
            for name in vars(getattr(_acemq, kind))
            if not name.startswith("__") or name in ("__len__", "__bytes__", "__new__")
        }
        assert methods | {"__new__"} == found | {"__new__"}, kind
