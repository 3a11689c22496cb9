"""From the arguments of ``StaticClient`` and ``ChannelManager`` to a connected agent: in a driver
of its own, or in its host.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._version import __version__
from .agent import Agent
from .driver import Driver
from .errors import InvalidArgumentError, StaticError, StoreError, TransportError
from .frames import PROTOCOL
from .hosts import Start, find_host, place_of
from .frame_connection import Link
from .runtime import driver_command, find_runtime, host_command
from .settings import Settings, read_settings, same_api, trust_path
from .coroutines import Steps, ask, pause
from .transport import Way

#: A token, or a function that returns one; with ``static_sdk.aio`` it may be a coroutine function.
Token = Union[str, Callable[[], Union[str, Awaitable[str]]]]

#: A badge as text begins so.
_BADGE = "badge_"

#: After a kill the old driver needs a moment to let go of its directory.
_LOCK_SECONDS = 3.0


@dataclass(frozen=True)
class Options:
    """The arguments of ``StaticClient`` and ``ChannelManager``, checked."""

    endpoint: Optional[str]
    data_dir: str
    identity: bytes
    api_key: Optional[str] = field(default=None, repr=False)
    api_url: Optional[str] = None
    passphrase: Optional[str] = field(default=None, repr=False)
    token: Optional[Token] = field(default=None, repr=False)
    ca_file: Optional[str] = None
    ca_certs: Optional[Sequence[str]] = None
    certificate_hashes: Optional[Sequence[str]] = None
    transport: Optional[str] = None
    cover: Optional[str] = None
    repair: bool = False
    damaged: Optional[str] = None
    runtime: Optional[str] = None
    host: Optional[str] = None
    link: Optional[str] = field(default=None, repr=False)
    badge: Union[None, str, bool] = None
    receipts: Optional[str] = None


def check_options(
    endpoint: Optional[str],
    data_dir: Union[str, "os.PathLike[str]"],
    identity: Union[bytes, bytearray, memoryview],
    api_key: Optional[str],
    api_url: Optional[str],
    given: Dict[str, Any],
) -> Options:
    """Raises ``TypeError`` for arguments of a wrong kind, with what to write instead."""
    if isinstance(identity, str):
        raise TypeError(f"identity must be bytes, not str: write b{identity!r}, or encode it")
    texts = {"endpoint": endpoint, "api_key": api_key, "api_url": api_url}
    for name in ("passphrase", "ca_file", "transport", "damaged", "runtime", "host", "link", "receipts"):
        if name in given and isinstance(given[name], os.PathLike) and name in ("ca_file", "runtime"):
            given[name] = os.fspath(given[name])
        texts[name] = given.get(name)
    for name, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be str, not {type(value).__name__}")
    if given.get("host") not in (None, "auto", "off"):
        raise InvalidArgumentError("invalid_request", f"host is {given['host']!r}: give \"auto\" or \"off\"")
    if given.get("receipts") not in (None, "addressed", "off"):
        why = f"receipts is {given['receipts']!r}: give \"addressed\" or \"off\""
        raise InvalidArgumentError("invalid_request", why)
    folder = os.fspath(data_dir)
    if not isinstance(folder, str):
        raise TypeError(f"data_dir must be str or a path of text, not {type(folder).__name__}")
    if folder == "":
        raise InvalidArgumentError("invalid_request", "Cannot connect: data_dir is empty; name a directory")
    for name in ("ca_certs", "certificate_hashes"):
        if isinstance(given.get(name), (str, bytes)):
            raise TypeError(f"{name} must be a list of str, not {type(given[name]).__name__}")
    given["badge"] = _badge_of(given.get("badge"))
    if given.get("ca_file") is not None:
        given["ca_file"] = os.path.abspath(given["ca_file"])
    return Options(endpoint, os.path.abspath(folder), bytes(memoryview(identity)), api_key, api_url, **given)


def connect(options: Options, *, manager: bool, loop: Optional[asyncio.AbstractEventLoop] = None) -> Steps[Agent]:
    """An agent of this program alone, or of its host."""
    settings = _settings_for(options)
    relay_url, (api_key, api_url) = options.endpoint or settings.relay_url, _credentials(options, settings)
    fields = {
        "link": options.link,
        "endpoint": relay_url,
        "apiUrl": api_url,
        "apiKey": api_key,
        "token": options.token if isinstance(options.token, str) else None,
        "passphrase": options.passphrase,
        "repair": options.repair,
        "damaged": options.damaged,
        "transport": options.transport,
        "cover": options.cover,
        "trustFile": trust_path(),
        "badge": "" if options.badge is False else options.badge,
        "receipts": options.receipts,
    }
    tls = _tls(options, settings)
    if options.host == "auto":
        return (yield from _connect_shared(options, fields, tls))
    return (yield from _connect_alone(options, {**fields, "manager": manager}, tls, loop))


def _badge_of(given: Any) -> Union[None, str, bool]:
    """Its text, the path of its file, or False for none."""
    if given is None or given is False or (isinstance(given, str) and given.lstrip().startswith(_BADGE)):
        return given
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(f"badge must be str, a path or False, not {type(given).__name__}")
    return os.path.abspath(os.fspath(given))


def _files(fields: Mapping[str, Any]) -> List[Optional[str]]:
    """The user's files that the process which holds the agent may read."""
    badge = fields["badge"]
    return [fields["trustFile"], None if not badge or badge.startswith(_BADGE) else badge]


def _connect_alone(
    options: Options, fields: Dict[str, Any], tls: Optional[Dict[str, Any]], loop: Optional[asyncio.AbstractEventLoop]
) -> Steps[Agent]:
    """Starts a driver and connects its agent."""
    command = driver_command(
        find_runtime(options.runtime),
        data_dir=options.data_dir,
        readable=[path for path in ((tls or {}).get("caFile"), *_files(fields)) if path is not None],
        relay_url=fields["endpoint"],
        api_url=fields["apiUrl"],
    )
    driver = Driver(command, _Tokens(options.token, loop).answer)
    try:
        hello = (yield driver.hello).header
        if hello.get("protocol") != PROTOCOL or hello.get("sdk") != __version__:
            raise StaticError(
                "internal",
                f"the driver is of version {hello.get('sdk')} and speaks protocol {hello.get('protocol')}, this package is "
                f"{__version__} and speaks {PROTOCOL}: install the package again",
            )
        asks = True if callable(options.token) else None
        given = {**fields, "dataDir": options.data_dir, "tokenAsk": asks, "tls": tls}
        state = yield from _connect(driver, given, options.identity)
    except BaseException:
        # Nothing is open in it yet that a kill could hurt.
        driver.close(TransportError("transport_error", "there is no connection"))
        driver.kill()
        driver.end()
        raise
    return Agent(Way(driver), options.data_dir, state["agentId"])


def _connect_shared(options: Options, fields: Dict[str, Any], tls: Optional[Dict[str, Any]]) -> Steps[Agent]:
    """Finds the agent's host, or starts it. Of its user's files it may read the names of agents
    alone: what else they hold goes with it.
    """
    if callable(options.token):
        raise InvalidArgumentError(
            "invalid_request", "A host cannot call a function for tokens; give api_key, or a token"
        )
    place = place_of(options.data_dir)
    told = {name: value for name, value in {**fields, "tls": _with_content(tls)}.items() if value is not None}
    start = Start(
        lambda: host_command(
            find_runtime(options.runtime),
            data_dir=place.data_dir,
            folder=place.folder,
            readable=[path for path in _files(fields) if path is not None],
            relay_url=fields["endpoint"],
            api_url=fields["apiUrl"],
        ),
        told,
        options.identity,
    )
    link = yield from find_host(place, start)
    return Agent(Way(link, lambda: find_host(place, start)), options.data_dir, link.hello.result().header["agentId"])


def _connect(driver: Driver, fields: Mapping[str, Any], identity: bytes) -> Steps[Dict[str, Any]]:
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            frame = yield from ask(driver, "connect", fields, identity)
            return frame.header["ok"]  # type: ignore[no-any-return]
        except StoreError as error:
            if error.code != "store_locked" or time.monotonic() > until:
                raise
        yield from pause(0.1)


def _settings_for(options: Options) -> Settings:
    """A credentials file that cannot be used is no obstacle for a program that does not need it."""
    has_credential = options.token is not None or (options.api_key is not None and options.api_url is not None)
    try:
        return read_settings(given=options.api_url)
    except StaticError:
        if options.endpoint is None or not has_credential:
            raise
        return read_settings(without_file=True, given=options.api_url)


def _credentials(options: Options, stored: Settings) -> Tuple[Optional[str], Optional[str]]:
    """Arguments are never mixed with stored settings: a stored key belongs to the stored address,
    not to another.
    """
    api_url = stored.api_url if options.api_url is None else options.api_url
    if options.token is not None:
        return None, api_url
    own = options.api_url is None or same_api(options.api_url, stored.api_url)
    saved = stored.api_key if own else None
    api_key = saved if options.api_key is None else options.api_key
    if api_key is not None and api_url is None:
        if options.link is not None:
            return None, None  # it is sent to no address that a link names
        raise InvalidArgumentError(
            "invalid_request", "Cannot use api_key without api_url: give the address of the API"
        )
    return api_key, api_url


def _tls(options: Options, stored: Settings) -> Optional[Dict[str, Any]]:
    given = {
        "caFile": options.ca_file,
        "caCerts": None if options.ca_certs is None else list(options.ca_certs),
        "certificateHashes": None if options.certificate_hashes is None else list(options.certificate_hashes),
    }
    told = {name: value for name, value in given.items() if value is not None}
    if told:
        return told
    if stored.ca_file is not None:
        return {"caFile": os.path.abspath(stored.ca_file)}
    if stored.relay_ca_file is None:
        # Nobody beside the authorities of the runtime, unless the relay is new: then the API says
        # it.
        return {} if options.endpoint is None and stored.is_relay_saved else None
    # Here, because the driver may read no file of the user's configuration.
    advice = "which the credentials file names; sign in again with: static login"
    return {"relayCaCerts": [_read_text(stored.relay_ca_file, advice)]}


def _with_content(tls: Optional[Dict[str, Any]]) -> Optional[Dict[str, Any]]:
    """The certificates of a file in place of its name."""
    if tls is None or "caFile" not in tls:
        return tls
    rest = {name: value for name, value in tls.items() if name != "caFile"}
    from_file = _read_text(tls["caFile"], "which ca_file or STATIC_CA_FILE names")
    return {**rest, "caCerts": [*tls.get("caCerts", []), from_file]}


def _read_text(path: str, advice: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise InvalidArgumentError("invalid_request", f"Cannot read {path}, {advice}: {error}") from None


class _Tokens:
    """Tokens for a driver that asks for them."""

    def __init__(self, token: Optional[Token], loop: Optional[asyncio.AbstractEventLoop]) -> None:
        self._token = token
        self._loop = loop

    def answer(self, link: Link, number: int) -> None:
        # The function is the program's and may take its time.
        threading.Thread(target=self._answer, args=(link, number), name="static_sdk token", daemon=True).start()

    def _answer(self, link: Link, number: int) -> None:
        try:
            token = self._ask()
            if not isinstance(token, str):
                raise TypeError(f"token must return str, not {type(token).__name__}")
            answer = {"ask": number, "token": token}
        except BaseException as error:
            answer = {"ask": number, "failure": f"the token function failed: {type(error).__name__}: {error}"}
        link.tell("answer", answer)

    def _ask(self) -> Any:
        assert callable(self._token)
        token = self._token()
        if not inspect.isawaitable(token):
            return token
        if self._loop is None:
            raise TypeError("a coroutine function as token needs static_sdk.aio")
        return asyncio.run_coroutine_threadsafe(_awaited(token), self._loop).result()


async def _awaited(token: Awaitable[str]) -> str:
    return await token
