"""Examples in docstrings."""

import contextlib
import doctest
import io
import os
import textwrap
import unittest
from typing import Any, Type
from unittest import mock

import static_sdk
from place import API_KEY, API_URL, CA_FILE, ENDPOINT, PairCase
from static_sdk import Channel, ChannelManager, StaticClient, errors, iterators, values

SETTINGS = {
    "STATIC_RELAY_URL": ENDPOINT,
    "STATIC_API_URL": API_URL,
    "STATIC_API_KEY": API_KEY,
    "STATIC_CA_FILE": CA_FILE,
}


class Examples(PairCase):
    def run_example(self, kind: Type[Any], **names: Any) -> str:
        """The output of the example of this class."""
        code = textwrap.dedent((kind.__doc__ or "").split("Example::")[1])
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(code, {**vars(static_sdk), **names})
        return said.getvalue()

    def test_examples(self) -> None:
        """the examples of StaticClient, Channel and ChannelManager run"""
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        with mock.patch.dict(os.environ, SETTINGS):
            self.run_example(StaticClient)
            self.assertRegex(self.run_example(ChannelManager), r"^inv_")
        # A channel's own messages do not come back to it.
        self.assertEqual(self.run_example(Channel, client=self.bob.client), "None\n")


def load_tests(loader: unittest.TestLoader, tests: unittest.TestSuite, pattern: object) -> unittest.TestSuite:
    for module in (errors, iterators, values):
        tests.addTests(doctest.DocTestSuite(module))
    return tests
