"""Frames, against the golden ones of the driver."""

import json
import os
import unittest

from static_sdk.errors import StaticError
from static_sdk.frames import MAX_FRAME_BYTES, FrameReader, encode_frame

GOLDEN = os.path.join(os.path.dirname(__file__), "../../host/testdata/frames.json")


class Frames(unittest.TestCase):
    def setUp(self) -> None:
        with open(GOLDEN, encoding="utf-8") as file:
            self.golden = json.load(file)

    def test_golden(self) -> None:
        """golden frames are encoded and decoded as they stand there"""
        for each in self.golden["frames"]:
            header, body, frame = json.loads(each["header"]), bytes.fromhex(each["bytes"]), bytes.fromhex(each["frame"])
            self.assertEqual(encode_frame(header, body), frame, each["name"])
            self.assertEqual(list(FrameReader().push(frame)), [(header, body)], each["name"])

    def test_pieces(self) -> None:
        """frames are found wherever the pieces are cut"""
        whole = b"".join(bytes.fromhex(each["frame"]) for each in self.golden["frames"])
        expected = list(FrameReader().push(whole))
        self.assertEqual(len(expected), len(self.golden["frames"]))
        for size in (1, 2, 3, 5, 7, 11, 64):
            reader = FrameReader()
            found = [frame for at in range(0, len(whole), size) for frame in reader.push(whole[at : at + size])]
            self.assertEqual(found, expected, f"pieces of {size}")

    def test_refused(self) -> None:
        """what is no frame is refused"""
        for each in self.golden["refused"]:
            with self.assertRaisesRegex(StaticError, "are not a frame", msg=each["name"]):
                list(FrameReader().push(bytes.fromhex(each["frame"])))

    def test_too_large(self) -> None:
        """a call of more than 8 MiB is refused before anything is written"""
        with self.assertRaises(StaticError) as caught:
            encode_frame({}, bytes(MAX_FRAME_BYTES))
        self.assertEqual(caught.exception.code, "payload_too_large")
        with self.assertRaises(StaticError):
            encode_frame({"text": "x" * (5 * 1024 * 1024)})

    def test_no_unicode(self) -> None:
        """text that is no Unicode is an error of the call"""
        with self.assertRaises(StaticError) as caught:
            encode_frame({"channel": "\ud800"})
        self.assertEqual(caught.exception.code, "invalid_request")
