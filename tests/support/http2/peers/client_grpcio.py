"""Debian's python3-grpcio (gRPC C-core) against the server under test. Arguments: port, certificate
file.
"""
import json
import sys
import threading
import time

import grpc

port, cert_file = sys.argv[1:3]
with open(cert_file, "rb") as file:
    credentials = grpc.ssl_channel_credentials(root_certificates=file.read())
options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
channel = grpc.secure_channel(f"localhost:{port}", credentials, options)


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def payload(data=b"", count=0, fail="", hang=False):
    """The test's message: data = 1, count = 2, fail = 3, hang = 4."""
    out = b""
    if data:
        out += b"\x0a" + varint(len(data)) + data
    if count:
        out += b"\x10" + varint(count)
    if fail:
        out += b"\x1a" + varint(len(fail.encode())) + fail.encode()
    return out + (b"\x20\x01" if hang else b"")


def data_length(message):
    """How many bytes of data a reply carries, by its own length prefix."""
    if not message:
        return 0
    assert message[0] == 0x0A
    length, shift, at = 0, 0, 1
    while True:
        length |= (message[at] & 0x7F) << shift
        shift += 7
        at += 1
        if message[at - 1] < 0x80:
            break
    assert len(message) == at + length
    return length


unary = channel.unary_unary("/test.Echo/Unary")
unknown = channel.unary_unary("/test.Echo/Unknown")
server_stream = channel.unary_stream("/test.Echo/ServerStream")
client_stream = channel.stream_unary("/test.Echo/ClientStream")
bidi = channel.stream_stream("/test.Echo/Bidi")
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def code_of(action):
    try:
        action()
    except grpc.RpcError as error:
        return error.code()
    raise AssertionError("the call succeeded")


@check
def unary_call():
    assert data_length(unary(payload(data=bytes(4096)))) == 4096


@check
def server_streaming():
    lengths = [data_length(message) for message in server_stream(payload(data=bytes(4096), count=1000))]
    assert lengths == [4096] * 1000


@check
def client_streaming():
    reply = client_stream(payload(data=bytes(4096)) for _ in range(1000))
    assert reply == payload(count=1000, fail=str(4096 * 1000)), reply


@check
def bidi_streaming():
    lengths = [data_length(message) for message in bidi(payload(data=bytes(n)) for n in range(1, 500))]
    assert lengths == list(range(1, 500))


@check
def metadata_and_trailers():
    metadata = (("x-echo", "text value"), ("x-echo-bin", bytes(range(40))))
    _, call = unary.with_call(payload(), metadata=metadata)
    initial, trailing = dict(call.initial_metadata()), dict(call.trailing_metadata())
    assert initial["x-echo"] == "text value" and initial["x-echo-bin"] == bytes(range(40)), initial
    assert trailing["x-trailer"] == "text value" and trailing["x-trailer-bin"] == bytes(range(40)), trailing


@check
def errors():
    assert code_of(lambda: unary(payload(fail="reason"))) == grpc.StatusCode.FAILED_PRECONDITION
    assert code_of(lambda: unknown(payload())) == grpc.StatusCode.UNIMPLEMENTED


@check
def error_texts():
    text = 'Cannot send, 100 % full: "a/b" is at 5; ünïcode & 🦆'
    try:
        unary(payload(fail=text))
    except grpc.RpcError as error:
        assert error.details() == text, error.details()
    else:
        raise AssertionError("the call succeeded")


@check
def deadline():
    assert code_of(lambda: unary(payload(hang=True), timeout=0.2)) == grpc.StatusCode.DEADLINE_EXCEEDED


@check
def cancel():
    call = server_stream(payload(count=1, hang=True))
    next(call)
    threading.Timer(0.05, call.cancel).start()
    assert code_of(lambda: next(call)) == grpc.StatusCode.CANCELLED


@check
def parallel_streams():
    calls = [server_stream(payload(data=bytes(1000), count=20)) for _ in range(300)]
    assert [len(list(call)) for call in calls] == [20] * 300


@check
def large_messages():
    assert data_length(unary(payload(data=bytes(3_000_000)))) == 3_000_000
    assert [data_length(m) for m in server_stream(payload(data=bytes(3_000_000), count=3))] == [3_000_000] * 3


for function in CHECKS:
    try:
        function()
        print(json.dumps({"name": function.__name__, "ok": True}))
    except BaseException as error:  # every kind of failure is a result here
        print(json.dumps({"name": function.__name__, "ok": False, "error": repr(error)}))
channel.close()
