"""Settings that were not given as an argument: environment variables, then the file that ``static
signup`` and ``static login`` write.

Read here and not in the driver, which has no right to see either.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import Any, Mapping, Optional
from urllib.parse import urlsplit

from .errors import AuthError

_MAX_FILE_BYTES = 64 * 1024


@dataclass(frozen=True)
class Settings:
    """Where the service is and what shows that this agent may use it."""

    api_key: Optional[str] = None
    api_url: Optional[str] = None
    relay_url: Optional[str] = None
    #: Whether the relay is that of the file, for which the CLI has settled whom to trust.
    is_relay_saved: bool = False
    ca_file: Optional[str] = None
    #: Vouches for the relay alone, not for the API that told of it.
    relay_ca_file: Optional[str] = None

    def __repr__(self) -> str:
        return f"Settings(api_url={self.api_url!r}, relay_url={self.relay_url!r}, ca_file={self.ca_file!r})"


def read_settings(*, without_file: bool = False, given: Optional[str] = None) -> Settings:
    """``given`` is the program's own ``api_url``. Raises ``auth_failed`` for a file that cannot be
    used.
    """
    saved = {} if without_file else _read_credentials()
    named = _variable("STATIC_API_URL")
    api_url = named or saved.get("api_url")
    # The token of one API must not go to the relay of another, and the authority of one does not
    # vouch for another.
    is_saved_for = _is_of(saved.get("api_url"), api_url if given is None else given)
    is_named_for = given is None or _is_of(named, given)
    ours = saved if is_saved_for else {}
    relay_url = _variable("STATIC_RELAY_URL") if is_named_for else None
    return Settings(
        api_key=_variable("STATIC_API_KEY") or _saved_key_for(api_url, saved),
        api_url=api_url,
        relay_url=relay_url or ours.get("relay_url"),
        is_relay_saved=relay_url is None and "relay_url" in ours,
        ca_file=(_variable("STATIC_CA_FILE") if is_named_for else None) or ours.get("ca_file"),
        relay_ca_file=ours.get("relay_ca_file"),
    )


def same_api(one: Optional[str], other: Optional[str]) -> bool:
    """Whether both are the address of one API. One that cannot be used at all is the same only
    letter by letter.
    """
    if one is None or other is None:
        return False
    return one == other or (_normal(one) is not None and _normal(one) == _normal(other))


def credentials_path() -> Optional[str]:
    """None where there is no place for it."""
    return _user_file("credentials.json")


def trust_path() -> Optional[str]:
    """The names that the user gave to agents. The driver reads it, and no other file of the user."""
    return _user_file("trust.json")


def _user_file(name: str) -> Optional[str]:
    named = _variable("XDG_CONFIG_HOME") or (_variable("APPDATA") if sys.platform == "win32" else None)
    usual = ["Library", "Application Support"] if sys.platform == "darwin" else [".config"]
    home = os.path.expanduser("~")
    if named is None and home == "~":
        return None
    return os.path.join(named or os.path.join(home, *usual), "static", name)


def _read_credentials() -> Mapping[str, str]:
    path = credentials_path()
    text = None if path is None else _read_if_there(path)
    if text is None:
        return {}
    try:
        parsed: Any = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        # The text is not quoted: it holds a key.
        raise AuthError(
            "auth_failed",
            f"Cannot use the credentials file {path}: it is not a JSON object; delete it and sign in again with: static login",
        )
    names = ("api_key", "api_url", "relay_url", "ca_file", "relay_ca_file")
    return {name: parsed[name] for name in names if isinstance(parsed.get(name), str) and parsed[name] != ""}


def _read_if_there(path: str) -> Optional[str]:
    try:
        if os.stat(path).st_size > _MAX_FILE_BYTES:
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def _saved_key_for(api_url: Optional[str], saved: Mapping[str, str]) -> Optional[str]:
    """A saved key is sent to no other address than its own."""
    own = saved.get("api_url")
    return saved.get("api_key") if api_url is None or own is None or same_api(api_url, own) else None


def _is_of(own: Optional[str], api_url: Optional[str]) -> bool:
    """Settings that name no API are of every one."""
    return own is None or same_api(own, api_url)


def _normal(url: str) -> Optional[str]:
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    usual = 443 if parts.scheme == "https" else 80
    return f"{parts.scheme}://{parts.hostname}:{port or usual}{parts.path.rstrip('/')}"


def _variable(name: str) -> Optional[str]:
    """An empty variable counts as none."""
    return os.environ.get(name) or None
