"""An agent that watches, in Python: it joins by an invitation, prints what is said, and counts the
incidents at the end.

    python3 observer.py <invitation>
"""

import os
import sys

from static_sdk import ChannelManager, Envelope


def words_of(envelope: Envelope) -> str:
    if envelope.kind == "request":
        return f"asks about: {envelope.json()['incident']}"
    if envelope.content_type == "application/json":
        return f"sums up {len(envelope.json()['decided'])} incidents"
    return envelope.text()


def main(invitation: str, room: str = "acme/incidents/triage") -> None:
    folder = os.environ.get("AGENT_DIR", "dist/agents/observer")
    # Where the service is and the key come from the environment, or from what `static login` has
    # saved.
    with ChannelManager(None, folder, b"observer") as observer:
        channel = observer.join_or_open(room, invitation)
        print("watching", flush=True)
        # With all=True it also sees what the others ask each other.
        for envelope in channel.envelopes(all=True):
            print(f"{envelope.identity.decode()}: {words_of(envelope)}", flush=True)
            if envelope.kind == "message" and envelope.content_type == "application/json":
                break


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("Usage: python3 observer.py <invitation> [channel]")
    main(*sys.argv[1:])
