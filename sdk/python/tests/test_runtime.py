"""Which runtime is taken, and with which rights."""

import os
import stat
import tempfile
import unittest
from unittest import mock

import static_sdk
from static_sdk._version import __version__
from static_sdk.runtime import driver_command, driver_environment, find_runtime

ROOT = os.path.join(os.path.dirname(__file__), "../../..")


class Runtime(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def program(self, name: str) -> str:
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return path

    def test_version(self) -> None:
        """the package has the version of the whole project"""
        with open(os.path.join(ROOT, "proto/base/version.ts"), encoding="utf-8") as file:
            self.assertIn(f'"{__version__}"', file.read())

    def test_order(self) -> None:
        """an argument comes before STATIC_RUNTIME, and that before deno and node on PATH"""
        node = self.program("node")
        with mock.patch.dict(os.environ, {"PATH": f".:{self.folder}", "STATIC_RUNTIME": ""}):
            self.assertEqual(find_runtime(None), node)
            deno = self.program("deno")
            self.assertEqual(find_runtime(None), deno)
            self.assertEqual(find_runtime(node), node)
            with mock.patch.dict(os.environ, {"STATIC_RUNTIME": node}):
                self.assertEqual(find_runtime(None), node)

    def test_none(self) -> None:
        """without a runtime the error names the one command to run"""
        with mock.patch.dict(os.environ, {"PATH": "", "STATIC_RUNTIME": ""}):
            with self.assertRaises(RuntimeError) as caught:
                static_sdk.StaticClient("quic://localhost:1", self.folder, b"a", "sk_live_x", "https://localhost:1")
        expected = 'runtime error: no JavaScript runtime found: run "pip install deno", or install Node 20 or newer'
        self.assertEqual(str(caught.exception), expected)

    def test_wrong(self) -> None:
        """a runtime that is no file, or no runtime, is told"""
        with self.assertRaisesRegex(RuntimeError, "is no file"):
            find_runtime("/nowhere/deno")
        with self.assertRaisesRegex(RuntimeError, "^runtime error: the driver did not start"):
            static_sdk.StaticClient(
                "quic://localhost:1", self.folder, b"a", "sk_live_x", "https://localhost:1", runtime=self.program("node")
            )

    def test_rights(self) -> None:
        """Deno gets the rights for one directory and two places, and commas in names stay names"""
        command = driver_command(
            "/usr/bin/deno", data_dir="/a,b", readable=["/ca.pem"], relay_url="quic://r", api_url="https://api.example/x"
        )
        self.assertIn("--allow-write=/a,,b", command)
        self.assertTrue(any(word.startswith("--allow-read=") and word.endswith(",/ca.pem") for word in command))
        # All ports of the relay's host: the API tells the one for TCP.
        self.assertIn("--allow-net=api.example:443,r,[::]:0,0.0.0.0:0", command)
        self.assertNotIn("-A", command)
        told = driver_command("/usr/bin/deno", data_dir="/a", readable=[], relay_url="quic://r", api_url=None)
        self.assertIn("--allow-net=r:4433,r:5000,[::]:0,0.0.0.0:0", told)
        relays = "quic://r, https://r:5001,quic://s:7"
        several = driver_command("/usr/bin/deno", data_dir="/a", readable=[], relay_url=relays, api_url="https://a")
        self.assertIn("--allow-net=a:443,r:4433,r:5000,r:5001,s,[::]:0,0.0.0.0:0", several)
        unknown = driver_command("/usr/bin/deno", data_dir="/a", readable=[], relay_url=None, api_url="https://a")
        self.assertIn("--allow-net", unknown)

    def test_environment(self) -> None:
        """NODE_OPTIONS does not reach the driver"""
        with mock.patch.dict(os.environ, {"NODE_OPTIONS": "--inspect"}):
            self.assertNotIn("NODE_OPTIONS", driver_environment())
