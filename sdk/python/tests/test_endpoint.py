"""The interface's constructor and nothing more: a fresh service, and the one runtime that is on
PATH.
"""

import os

from place import API_KEY, API_URL, ENDPOINT, HostCase, channel_name
from static_sdk import StaticClient, TransportError
from static_sdk.runtime import find_runtime

#: Node speaks no QUIC: only the API knows where the relay's TCP port is.
TRANSPORT = "quic" if os.path.basename(find_runtime(None)) == "deno" else "grpc"


class Endpoint(HostCase):
    def connect(self, endpoint: str) -> StaticClient:
        client = StaticClient(endpoint, f"{self.folder}/alice", b"alice", API_KEY, API_URL)
        self.addCleanup(client.close)
        return client

    def test_literal(self) -> None:
        """StaticClient(endpoint, data_dir, identity, api_key, api_url) is enough: the API vouches
        for its own relay
        """
        client = self.connect(ENDPOINT)
        self.assertEqual(client.transport, TRANSPORT)
        client.create_channel(channel_name())

    def test_host(self) -> None:
        """so it is for an agent that is shared"""
        client = self.share(StaticClient, "bob", ca_file=None)
        client.create_channel(channel_name())

    def test_stranger(self) -> None:
        """a relay that the API does not name has no authority from it, and the error says so"""
        with self.assertRaises(TransportError) as caught:
            self.connect(ENDPOINT.replace("localhost", "127.0.0.1"))
        self.assertEqual(caught.exception.code, "connection_error")
        self.assertRegex(
            str(caught.exception),
            f"127.0.0.1.* is not among the relays that the API at {API_URL} names: {ENDPOINT}, https://localhost:",
        )
