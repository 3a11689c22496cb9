"""Of each operation. Generated from proto/host/operations.ts by tools/generate_python.ts; do not edit."""

from typing import Dict, Optional, Union

#: It may be said twice: to the next host, when the first one dies; always, or only with this field.
AGAIN: Dict[str, Union[bool, str]] = {
    "agent": True,
    "number": True,
    "waitForMember": True,
    "members": True,
    "fingerprint": True,
    "health": True,
    "policy": True,
    "create": True,
    "open": True,
    "openOrCreate": True,
    "join": True,
    "joinLink": True,
    "joinWithToken": True,
    "joinOrOpen": True,
    "keyPackage": True,
    "removeMember": True,
    "previewRecovery": True,
    "promote": True,
    "demote": True,
    "setPolicy": True,
    "receiptsOf": True,
    "giveReceipt": True,
    "setIssuers": True,
    "issuers": True,
    "invites": True,
    "revokeInvite": "token",
    "send": "message",
    "sendAll": "bundle",
    "request": "key",
    "receive": True,
    "ack": "sequence",
}

#: The field of its answer that is its value; None for the answer's bytes.
RESULT: Dict[str, Optional[str]] = {
    "number": "number",
    "watch": "state",
    "members": "members",
    "fingerprint": "fingerprint",
    "health": "health",
    "policy": "policy",
    "keyPackage": None,
    "addMember": None,
    "previewRecovery": "preview",
    "receiptsOf": "receipts",
    "issuers": "issuers",
    "invite": "token",
    "inviteLink": "link",
    "invites": "invites",
    "sendAll": "sent",
    "readers": "readers",
}
