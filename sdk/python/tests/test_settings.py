"""Settings: the same cases as ``sdk/platform/settings_test.ts``."""

import json
import os
import tempfile
import unittest
from typing import Dict, Optional
from unittest import mock

from static_sdk.connecting import _tls, check_options
from static_sdk.errors import AuthError, InvalidArgumentError
from static_sdk.settings import Settings, credentials_path, read_settings

NAMES = ("STATIC_API_KEY", "STATIC_API_URL", "STATIC_RELAY_URL", "STATIC_CA_FILE")


class ReadSettings(unittest.TestCase):
    def read(self, variables: Dict[str, str], file: Optional[str] = None) -> Settings:
        """With these variables and no others of ours, and with this credentials file if one is given."""
        with tempfile.TemporaryDirectory() as folder:
            kept = {name: value for name, value in os.environ.items() if name not in NAMES}
            with mock.patch.dict(os.environ, {**kept, **variables, "XDG_CONFIG_HOME": folder}, clear=True):
                path = credentials_path()
                assert path == os.path.join(folder, "static", "credentials.json")
                if file is not None:
                    os.mkdir(os.path.dirname(path))
                    with open(path, "w", encoding="utf-8") as out:
                        out.write(file)
                return read_settings()

    def test_nothing(self) -> None:
        """without variables and without a file there are no settings"""
        self.assertEqual(self.read({}), Settings())

    def test_order(self) -> None:
        """variables come before the file, empty ones count as absent, and what the file holds besides is ignored"""
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

    def test_relay_authority(self) -> None:
        """the authority of the relay comes from the file, and cannot be read when it is gone"""
        file = json.dumps({"relay_ca_file": "/nowhere/relay.pem"})
        settings = self.read({}, file)
        self.assertEqual(settings, Settings(relay_ca_file="/nowhere/relay.pem"))
        options = check_options(None, "folder", b"a", None, None, {})
        with self.assertRaisesRegex(InvalidArgumentError, "static login"):
            _tls(options, settings)
        self.assertEqual(_tls(options, Settings(relay_ca_file=__file__))["relayCaCerts"][0][:3], '"""')
        self.assertEqual(list(_tls(options, Settings(ca_file="a", relay_ca_file="b"))), ["caFile"])

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
