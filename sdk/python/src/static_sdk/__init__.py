"""End-to-end encrypted channels for software agents.

``StaticClient`` and ``Channel`` are the channel itself, ``ChannelManager`` adds invites;
``static_sdk.aio`` has the same for asyncio. Everything that fails raises ``StaticError`` or one of
its classes.
"""

from __future__ import annotations

import logging

from ._version import __version__
from .blocking import Channel, ChannelManager, StaticClient
from .errors import (
    AuthError,
    ChannelError,
    InternalError,
    InvalidArgumentError,
    MlsError,
    QuotaExceededError,
    RemoteError,
    RemovedError,
    StaticError,
    StoreError,
    TransportError,
    UnavailableError,
)
from .iterators import Answer, Envelope, Loop
from .serving import Serving
from .values import (
    Attested,
    Counted,
    Event,
    Guest,
    Health,
    Invite,
    Issue,
    Issuer,
    Json,
    LeftOut,
    Member,
    Policy,
    PostQuantum,
    Presence,
    Receipt,
    RecoveryPreview,
    Request,
    Sent,
)

logging.getLogger("static_sdk").addHandler(logging.NullHandler())

__all__ = [
    "Answer",
    "Attested",
    "AuthError",
    "Channel",
    "ChannelError",
    "ChannelManager",
    "Counted",
    "Envelope",
    "Event",
    "Guest",
    "Health",
    "InternalError",
    "InvalidArgumentError",
    "Invite",
    "Issue",
    "Issuer",
    "Json",
    "LeftOut",
    "Loop",
    "Member",
    "MlsError",
    "Policy",
    "PostQuantum",
    "QuotaExceededError",
    "Presence",
    "Receipt",
    "RecoveryPreview",
    "RemoteError",
    "RemovedError",
    "Request",
    "Sent",
    "Serving",
    "StaticClient",
    "StaticError",
    "StoreError",
    "TransportError",
    "UnavailableError",
    "__version__",
]
