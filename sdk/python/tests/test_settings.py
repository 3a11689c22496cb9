"""Settings: the same cases as ``sdk/platform/settings_test.ts``."""

import json
import os
import tempfile
import unittest
from typing import Any, Dict, Optional
from unittest import mock

from static_sdk.connecting import _settings_for, _tls, check_options
from static_sdk.errors import AuthError, InvalidArgumentError
from static_sdk.settings import Settings, credentials_path, read_settings

NAMES = ("STATIC_API_KEY", "STATIC_API_URL", "STATIC_RELAY_URL", "STATIC_CA_FILE")


class ReadSettings(unittest.TestCase):
    def read(self, variables: Dict[str, str], file: Optional[str] = None, given: Optional[str] = None) -> Settings:
        """With these variables and no others of ours, with this credentials file if one is given,
        and for this ``api_url``.
        """
        with tempfile.TemporaryDirectory() as folder:
            kept = {name: value for name, value in os.environ.items() if name not in NAMES}
            with mock.patch.dict(os.environ, {**kept, **variables, "XDG_CONFIG_HOME": folder}, clear=True):
                path = credentials_path()
                assert path == os.path.join(folder, "static", "credentials.json")
                if file is not None:
                    os.mkdir(os.path.dirname(path))
                    with open(path, "w", encoding="utf-8") as out:
                        out.write(file)
                return read_settings(given=given)

    def test_nothing(self) -> None:
        """without variables and without a file there are no settings"""
        self.assertEqual(self.read({}), Settings())

    def test_order(self) -> None:
        """variables come before the file, empty ones count as absent, and what the file holds
        besides is ignored
        """
        file = json.dumps({"api_key": "from file", "api_url": "https://file", "relay_url": 5, "other": "x"})
        variables = {"STATIC_API_KEY": "from variable", "STATIC_API_URL": "", "STATIC_CA_FILE": "ca.pem"}
        expected = Settings(api_key="from variable", api_url="https://file", ca_file="ca.pem")
        self.assertEqual(self.read(variables, file), expected)

    def test_key_of_another(self) -> None:
        """a saved key is not used at an address that a variable names, unless it is the key's own"""
        file = json.dumps({"api_key": "saved", "api_url": "https://file"})
        self.assertEqual(self.read({"STATIC_API_URL": "https://other"}, file), Settings(api_url="https://other"))
        own = self.read({"STATIC_API_URL": "https://file/"}, file)
        self.assertEqual(own, Settings(api_key="saved", api_url="https://file/"))

    def test_service_of_file(self) -> None:
        """the saved relay and its authorities are used for the saved API alone"""
        of_file: Dict[str, Any] = {"relay_url": "quic://file", "ca_file": "file.pem", "relay_ca_file": "relay.pem"}
        file = json.dumps({"api_url": "https://file", **of_file})
        saved: Dict[str, Any] = {**of_file, "is_relay_saved": True}
        self.assertEqual(self.read({}, file), Settings(api_url="https://file", **saved))
        self.assertEqual(self.read({}, file, "https://FILE:443/"), Settings(api_url="https://file", **saved))
        self.assertEqual(self.read({}, file, "https://other"), Settings(api_url="https://file"))
        other = {"STATIC_API_URL": "https://other"}
        self.assertEqual(self.read(other, file), Settings(api_url="https://other"))
        self.assertEqual(self.read(other, file, "https://file"), Settings(api_url="https://other", **saved))
        # An address that cannot be used is the same letter by letter.
        broken = json.dumps({"api_url": "file", "relay_url": "quic://file"})
        self.assertEqual(self.read({}, broken), Settings(api_url="file", relay_url="quic://file", is_relay_saved=True))
        self.assertEqual(self.read({}, broken, "other"), Settings(api_url="file"))

    def test_service_of_variables(self) -> None:
        """the relay and the authority of variables are not used by a program that names another API
        than the variables do
        """
        of_variables = {"STATIC_RELAY_URL": "quic://variable", "STATIC_CA_FILE": "variable.pem"}
        expected: Dict[str, Any] = {"relay_url": "quic://variable", "ca_file": "variable.pem"}
        self.assertEqual(self.read(of_variables, None, "https://program"), Settings(**expected))
        named = {**of_variables, "STATIC_API_URL": "https://variable"}
        api_url = "https://variable"
        self.assertEqual(self.read(named), Settings(api_url=api_url, **expected))
        self.assertEqual(self.read(named, None, "https://variable/"), Settings(api_url=api_url, **expected))
        self.assertEqual(self.read(named, None, "https://program"), Settings(api_url=api_url))

    def test_service_of_program(self) -> None:
        """a program's own ``api_url`` decides which settings count, also when the credentials file
        cannot be used
        """
        options = check_options("quic://program", "folder", b"a", "key", "https://program", {})
        for answers in ([Settings()], [AuthError("auth_failed", "broken"), Settings()]):
            with mock.patch("static_sdk.connecting.read_settings", side_effect=answers) as reading:
                _settings_for(options)
            self.assertEqual({call.kwargs["given"] for call in reading.call_args_list}, {"https://program"})

    def test_receipts(self) -> None:
        """whether senders are told is one of two words"""
        for word in (None, "addressed", "off"):
            given = {"receipts": word}
            self.assertEqual(check_options(None, "folder", b"a", None, None, given).receipts, word)
        with self.assertRaisesRegex(InvalidArgumentError, "addressed"):
            check_options(None, "folder", b"a", None, None, {"receipts": "on"})

    def test_relay_authority(self) -> None:
        """the authority of the relay comes from the file, and cannot be read when it is gone"""
        file = json.dumps({"relay_ca_file": "/nowhere/relay.pem"})
        settings = self.read({}, file)
        self.assertEqual(settings, Settings(relay_ca_file="/nowhere/relay.pem"))
        options = check_options(None, "folder", b"a", None, None, {})
        with self.assertRaisesRegex(InvalidArgumentError, "static login"):
            _tls(options, settings)
        self.assertEqual((_tls(options, Settings(relay_ca_file=__file__)) or {})["relayCaCerts"][0][:3], '"""')
        self.assertEqual(list(_tls(options, Settings(ca_file="a", relay_ca_file="b")) or {}), ["caFile"])

    def test_no_authority(self) -> None:
        """a saved relay without an authority of its own has none, and the API cannot add one; of
        another relay the API says it
        """
        saved = Settings(relay_url="quic://saved", is_relay_saved=True)
        self.assertEqual(_tls(check_options(None, "folder", b"a", None, None, {}), saved), {})
        self.assertIsNone(_tls(check_options("quic://other", "folder", b"a", None, None, {}), saved))
        self.assertIsNone(_tls(check_options(None, "folder", b"a", None, None, {}), Settings(relay_url="quic://variable")))

    def test_broken(self) -> None:
        """a credentials file that is no object is refused, and its content is not told"""
        for file in ("", "{", "[]5", "null", "x" * 70_000):
            with self.assertRaises(AuthError) as caught:
                self.read({}, file)
            self.assertEqual(caught.exception.code, "auth_failed")
            self.assertNotIn("xxx", str(caught.exception))

    def test_repr(self) -> None:
        """settings do not show their key"""
        self.assertNotIn("sk_live", repr(Settings(api_key="sk_live_1")))
