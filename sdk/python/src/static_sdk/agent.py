"""One agent in its driver: what client, manager, channels and loops of this process share."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
import time
import weakref
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, Deque, Dict, Mapping, NoReturn, Optional, Sequence, Set, Tuple, Union

from ._version import __version__
from .driver import Call, Driver
from .errors import InvalidArgumentError, StaticError, StoreError, TransportError
from .frames import PROTOCOL
from .runtime import driver_command, find_runtime
from .settings import Settings, read_settings, same_api
from .steps import Steps, ask, pause

#: A token, or a function that returns one; with ``static_sdk.aio`` it may be a coroutine function.
Token = Union[str, Callable[[], Union[str, Awaitable[str]]]]

#: After a kill the old driver needs a moment to let go of its directory.
_LOCK_SECONDS = 3.0
_CLOSE_SECONDS = 10.0


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
    for name in ("passphrase", "ca_file", "transport", "damaged", "runtime"):
        if name in given and isinstance(given[name], os.PathLike) and name in ("ca_file", "runtime"):
            given[name] = os.fspath(given[name])
        texts[name] = given.get(name)
    for name, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be str, not {type(value).__name__}")
    folder = os.fspath(data_dir)
    if not isinstance(folder, str):
        raise TypeError(f"data_dir must be str or a path of text, not {type(folder).__name__}")
    if folder == "":
        raise InvalidArgumentError("invalid_request", "Cannot connect: data_dir is empty; name a directory")
    for name in ("ca_certs", "certificate_hashes"):
        if isinstance(given.get(name), (str, bytes)):
            raise TypeError(f"{name} must be a list of str, not {type(given[name]).__name__}")
    if given.get("ca_file") is not None:
        given["ca_file"] = os.path.abspath(given["ca_file"])
    return Options(endpoint, os.path.abspath(folder), bytes(memoryview(identity)), api_key, api_url, **given)


class Agent:
    """A connected agent. Ends its driver when nobody holds it any more."""

    def __init__(self, driver: Driver, data_dir: str, agent_id: str, serving: Dict[Tuple[int, int], Callable[[], None]]) -> None:
        self.driver = driver
        self.data_dir = data_dir
        self.agent_id = agent_id
        self.closing = False
        #: Questions for one message whose askers were interrupted, by channel: what they get goes to the next one.
        self.leftover: Dict[str, Deque[Call]] = {}
        #: Requests that are being served, by stream and item: what to do when nobody waits for them any more.
        self.serving = serving
        self._closed: Optional[threading.Event] = None
        self._finalizer = weakref.finalize(self, driver.end)
        self._finalizer.atexit = False  # the end of the program is the driver's own matter

    def ask(self, op: str, fields: Optional[Mapping[str, Any]] = None, body: bytes = b"") -> Steps[Any]:
        """One call; returns its answer's fields and bytes."""
        frame = yield from ask(self.driver, op, fields or {}, body)
        return frame.header.get("ok", {}), frame.body

    def close(self) -> Steps[None]:
        """What was received counts as done with. Closing twice, and what is dead, is no mistake."""
        if self.closing:
            return
        self.closing = True
        driver = self.driver
        killer = threading.Timer(_CLOSE_SECONDS, driver.kill)
        killer.daemon = True
        try:
            killer.start()
        except RuntimeError:
            pass  # the interpreter is about to end
        problem: Optional[StaticError] = None
        try:
            try:
                yield from self.ask("close")
            except TransportError:
                pass  # it is closed already, by its death
            except StaticError as error:
                problem = error
            driver.close(TransportError("transport_error", "this client is closed; make another one"))
        finally:
            driver.end()
        yield driver.exited
        killer.cancel()
        if problem is not None:
            raise problem


def connect(options: Options, *, manager: bool, loop: Optional[asyncio.AbstractEventLoop] = None) -> Steps[Agent]:
    """Starts a driver and connects its agent."""
    settings = _settings_for(options)
    relay_url, (api_key, api_url) = options.endpoint or settings.relay_url, _credentials(options, settings)
    tls = _tls(options, settings)
    command = driver_command(
        find_runtime(options.runtime),
        data_dir=options.data_dir,
        ca_file=tls.get("caFile"),
        relay_url=relay_url,
        api_url=api_url,
    )
    serving: Dict[Tuple[int, int], Callable[[], None]] = {}
    events = _Events(options.token, serving, loop)
    driver = Driver(command, events.take)
    events.driver = weakref.ref(driver)
    try:
        hello = (yield driver.hello).header
        if hello.get("protocol") != PROTOCOL or hello.get("sdk") != __version__:
            raise StaticError(
                "internal",
                f"the driver is of version {hello.get('sdk')} and speaks protocol {hello.get('protocol')}, this package is "
                f"{__version__} and speaks {PROTOCOL}: install the package again",
            )
        fields = {
            "manager": manager,
            "dataDir": options.data_dir,
            "endpoint": relay_url,
            "apiUrl": api_url,
            "apiKey": api_key,
            "token": options.token if isinstance(options.token, str) else None,
            "tokenAsk": True if callable(options.token) else None,
            "passphrase": options.passphrase,
            "repair": options.repair,
            "damaged": options.damaged,
            "transport": options.transport,
            "cover": options.cover,
            "tls": tls or None,
        }
        state = yield from _connect(driver, fields, options.identity)
    except BaseException:
        # Nothing is open in it yet that a kill could hurt.
        driver.close(TransportError("transport_error", "there is no connection"))
        driver.kill()
        driver.end()
        raise
    return Agent(driver, options.data_dir, state["agentId"], serving)


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
        return read_settings()
    except StaticError:
        if options.endpoint is None or not has_credential:
            raise
        return read_settings(without_file=True)


def _credentials(options: Options, stored: Settings) -> Tuple[Optional[str], Optional[str]]:
    """What was given stands alone: a stored key belongs to the stored address, not to another."""
    api_url = stored.api_url if options.api_url is None else options.api_url
    if options.token is not None:
        return None, api_url
    own = options.api_url is None or same_api(options.api_url, stored.api_url)
    saved = stored.api_key if own else None
    api_key = saved if options.api_key is None else options.api_key
    if api_key is not None and api_url is None:
        raise InvalidArgumentError(
            "invalid_request", "Cannot use api_key without api_url: give the address of the API"
        )
    return api_key, api_url


def _tls(options: Options, stored: Settings) -> Dict[str, Any]:
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
    return {} if stored.relay_ca_file is None else {"relayCaCerts": [_read_authority(stored.relay_ca_file)]}


def _read_authority(path: str) -> str:
    """Here, because the driver may read no file of the user's configuration."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise InvalidArgumentError(
            "invalid_request", f"Cannot read {path}, which the credentials file names: {error}; sign in again with: static login"
        ) from None


class _Events:
    """What the driver says without being asked."""

    def __init__(
        self,
        token: Optional[Token],
        serving: Dict[Tuple[int, int], Callable[[], None]],
        loop: Optional[asyncio.AbstractEventLoop],
    ) -> None:
        self._token = token
        self._serving = serving
        self._loop = loop
        self.driver: Callable[[], Optional[Driver]] = lambda: None

    def take(self, name: str, header: Dict[str, Any]) -> None:
        if name == "over":
            over = self._serving.pop((header["stream"], header["item"]), None)
            if over is not None:
                over()
        elif name == "ask":
            # The function is the program's and may take its time.
            threading.Thread(target=self._answer, args=(header["ask"],), name="static_sdk token", daemon=True).start()

    def _answer(self, number: int) -> None:
        try:
            token = self._ask()
            if not isinstance(token, str):
                raise TypeError(f"token must return str, not {type(token).__name__}")
            answer = {"ask": number, "token": token}
        except BaseException as error:
            answer = {"ask": number, "failure": f"the token function failed: {type(error).__name__}: {error}"}
        driver = self.driver()
        if driver is not None:
            driver.tell("answer", answer)

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


class NotCopied:
    """An object that belongs to this process."""

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} cannot be copied or pickled: it holds a process; make one where it is needed")
