"""The examples in the docstrings of the public names run and print what they say."""

import doctest
import inspect
import sys

import pytest

import sensorprivacy

NAMES = [name for name in sorted(sensorprivacy.__all__) if not name.startswith("_")]


@pytest.mark.parametrize("name", NAMES)
def test_its_examples_run(name):
    thing = getattr(sensorprivacy, name)
    if not hasattr(thing, "__module__"):
        pytest.skip(f"{name} has no docstring of its own")
    module = sys.modules[thing.__module__]
    found = doctest.DocTestFinder(exclude_empty=True).find(thing, name, module=module, globs=dict(vars(module)))
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for example in found:
        runner.run(example)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("name", NAMES)
def test_each_public_function_and_class_has_an_example(name):
    thing = getattr(sensorprivacy, name)
    if callable(thing):
        assert ">>>" in (inspect.getdoc(thing) or ""), name
