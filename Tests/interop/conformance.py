"""Tests a worker's conformance to RFC 6455 case by case with wsproto, which shares no code with it.

The cases are those of the Autobahn test suite, with its numbers and new descriptions. Where that suite expects an echo,
these cases expect the id of a message in its `ack`. Binary messages are refused (1003), and so is text that is not a
JSON object (4102), which also shows that the message was received completely.

Usage: conformance.py EDGE, of a worker that accepts user names as tokens.
"""

import itertools
import json
import os
import socket
import sys
from urllib.parse import urlsplit

from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, Ping, Pong, Request, TextMessage
from wsproto.extensions import PerMessageDeflate

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


def frame(opcode, payload=b"", last=True, reserved=0):
    """A frame as a client sends it, masked; wsproto refuses to create most invalid ones."""
    length = len(payload)
    if length < 126:
        head = bytes([0x80 | length])
    elif length < 65536:
        head = b"\xfe" + length.to_bytes(2, "big")
    else:
        head = b"\xff" + length.to_bytes(8, "big")
    mask = os.urandom(4)
    return bytes([last << 7 | reserved << 4 | opcode]) + head + mask + bytes(
        byte ^ mask[index % 4] for index, byte in enumerate(payload))


def asking(id, length=None):
    """A message of this many bytes that is acknowledged at once with an id."""
    text = json.dumps({"type": "leave", "conversation": "c", "id": id}, ensure_ascii=False).encode()
    return text if length is None else text + b" " * (length - len(text))


def fragments(payload, size):
    pieces = [payload[at:at + size] for at in range(0, len(payload), size)] or [b""]
    for index, piece in enumerate(pieces):
        yield frame(TEXT if index == 0 else CONTINUATION, piece, index == len(pieces) - 1)


class Peer:
    """A session. The worker's frames are read by wsproto, which rejects what no server may send."""

    numbers = itertools.count(1)

    def __init__(self, edge, extensions=()):
        where = urlsplit(edge)
        self.socket = socket.create_connection((where.hostname, where.port), timeout=10)
        self.connection = WSConnection(ConnectionType.CLIENT)
        self.socket.sendall(self.connection.send(
            Request(host=where.netloc, target=where.path, extensions=list(extensions))))
        self.events = self.read()
        self.accepted = next(self.events)
        assert isinstance(self.accepted, AcceptConnection), self.accepted
        user = f"case-{os.getpid()}-{next(self.numbers)}"
        self.send(frame(TEXT, json.dumps({"type": "hello", "token": user, "device": "d"}).encode()))

    def send(self, data, chop=None):
        for at in range(0, len(data), chop or len(data) or 1):
            self.socket.sendall(data[at:at + (chop or len(data))])

    def read(self):
        text = ""
        while True:
            for event in self.connection.events():
                if isinstance(event, TextMessage):
                    text += event.data
                    if not event.message_finished:
                        continue
                    event, text = json.loads(text), ""
                yield event
            data = self.socket.recv(65536)
            self.connection.receive_data(data or None)
            if not data:
                yield from self.connection.events()
                yield "end"
                return

    def heard(self):
        """What a case checks: acknowledged ids, payloads of pongs, and the close code, which comes last."""
        for event in self.events:
            if isinstance(event, Pong):
                yield "pong", bytes(event.payload)
            elif isinstance(event, CloseConnection):
                yield "close", int(event.code)
                return
            elif isinstance(event, dict) and event["type"] == "ack":
                yield "ack", event["id"]
            elif event == "end":
                yield "end", None
                return


def echo(*ids):
    return [("ack", id) for id in ids]


def closes(code):
    return [("close", code)]


def pongs(*payloads):
    return [("pong", payload) for payload in payloads]


def cases():
    """Every case: its number, description, what is sent (in pieces of which size), and the expected result."""
    for number, length in enumerate([60, 125, 126, 127, 128, 65535, 65536], 1):
        yield f"1.1.{number}", f"a text of {length} bytes", frame(TEXT, asking(number, length)), None, echo(number)
    yield "1.1.8", "a text of 65536 bytes, in pieces of 997", frame(TEXT, asking(8, 65536)), 997, echo(8)
    yield "1.1.1", "an empty text", frame(TEXT), None, closes(4102)
    for number, length in enumerate([0, 125, 126, 127, 128, 65535, 65536], 1):
        yield f"1.2.{number}", f"a binary message of {length} bytes", frame(BINARY, b"\xfe" * length), None, closes(1003)

    yield from ping_cases()
    yield from reserved_cases()
    yield from fragment_cases()
    yield from utf8_cases()
    yield from close_cases()
    yield from size_cases()


def ping_cases():
    yield "2.1", "a ping without payload", frame(PING), None, pongs(b"")
    yield "2.2", "a ping with text", frame(PING, b"Hello, world!"), None, pongs(b"Hello, world!")
    yield "2.3", "a ping with bytes", frame(PING, b"\x00\xff\xfe\xfd"), None, pongs(b"\x00\xff\xfe\xfd")
    yield "2.4", "a ping of 125 bytes", frame(PING, b"\xfe" * 125), None, pongs(b"\xfe" * 125)
    yield "2.5", "a ping of 126 bytes", frame(PING, b"\xfe" * 126), None, closes(1002)
    yield "2.6", "a ping of 125 bytes, byte by byte", frame(PING, b"\xfe" * 125), 1, pongs(b"\xfe" * 125)
    yield "2.7", "a pong nobody asked for", frame(PONG) + frame(TEXT, asking(1)), None, echo(1)
    yield "2.8", "the same with a payload", frame(PONG, b"x") + frame(TEXT, asking(1)), None, echo(1)
    yield "2.9", "the same, then a ping", frame(PONG, b"x") + frame(PING, b"y"), None, pongs(b"y")
    ten = [b"payload-%d" % number for number in range(10)]
    for number, chop in (("2.10", None), ("2.11", 1)):
        yield number, "ten pings", b"".join(frame(PING, payload) for payload in ten), chop, pongs(*ten)


def reserved_cases():
    before = frame(TEXT, asking(1))
    yield "3.1", "reserved bits 1 on a text", frame(TEXT, asking(1), reserved=1), None, closes(1002)
    yield "3.2", "reserved bits 2 behind a message", before + frame(TEXT, asking(2), reserved=2) + frame(PING), None, \
        echo(1) + closes(1002)
    for number, chop in ((3, None), (4, 1)):
        yield f"3.{number}", f"reserved bits {number} behind a message", \
            before + frame(TEXT, asking(2), reserved=number) + frame(PING), chop, echo(1) + closes(1002)
    yield "3.5", "reserved bits 5 on a binary message", frame(BINARY, b"\xff", reserved=5), None, closes(1002)
    yield "3.6", "reserved bits 6 on a ping", frame(PING, b"x", reserved=6), None, closes(1002)
    yield "3.7", "reserved bits 7 on a close", frame(CLOSE, reserved=7), None, closes(1002)
    for group, first in (("4.1", 3), ("4.2", 11)):
        for number in range(5):
            opcode = first + number
            yield f"{group}.{number + 1}", f"the reserved opcode {opcode}, alone", frame(opcode), None, closes(1002)
            yield f"{group}.{number + 1}", f"the reserved opcode {opcode}, behind a message and before a ping", \
                before + frame(opcode, b"x") + frame(PING), number % 2 or None, echo(1) + closes(1002)


def fragment_cases():
    text = asking(1)
    first, rest = frame(TEXT, text[:9], False), frame(CONTINUATION, text[9:])
    middle = frame(CONTINUATION, text[9:12], False) + frame(CONTINUATION, text[12:])
    yield "5.1", "a ping in two fragments", frame(PING, b"a", False) + frame(CONTINUATION, b"b"), None, closes(1002)
    yield "5.2", "a pong in two fragments", frame(PONG, b"a", False) + frame(CONTINUATION, b"b"), None, closes(1002)
    for number, chop in (("5.3", None), ("5.4", 7), ("5.5", 1)):
        yield number, "a text in two fragments", first + rest, chop, echo(1)
    for number, chop in (("5.6", None), ("5.7", 7), ("5.8", 1)):
        yield number, "a ping between two fragments", first + frame(PING, b"p") + rest, chop, pongs(b"p") + echo(1)
    for number, chop in (("5.9", None), ("5.10", 7), ("5.11", 1)):
        yield number, "a last fragment of nothing", frame(CONTINUATION, b"x") + frame(TEXT, text), chop, closes(1002)
    for number, chop in (("5.12", None), ("5.13", 7), ("5.14", 1)):
        yield number, "a fragment of nothing", frame(CONTINUATION, b"x", False) + frame(TEXT, text), chop, closes(1002)
    yield "5.15", "a message in fragments, then a fragment of nothing", \
        first + rest + frame(CONTINUATION, b"x", False) + frame(TEXT, text), None, echo(1) + closes(1002)
    for number, last in (("5.16", False), ("5.17", True)):
        yield number, "fragments of nothing before a message", frame(CONTINUATION, b"x", last) + first + rest, None, \
            closes(1002)
    yield "5.18", "a message within a message", first + frame(TEXT, text[9:]), None, closes(1002)
    for number, chop in (("5.19", None), ("5.20", 1)):
        yield number, "pings between fragments", \
            first + frame(PING, b"1") + frame(CONTINUATION, text[9:12], False) + frame(PING, b"2") \
            + frame(CONTINUATION, text[12:]), chop, pongs(b"1", b"2") + echo(1)
    yield "5.3", "a text in three fragments", first + middle, None, echo(1)


VALID = {
    "6.2": ["Hello-µ@ßöäüàá-UTF-8!!"],
    "6.5": ["κόσμε"],
    "6.7": ["\x80", "\u0800", "\U00010000"],
    "6.9": ["\x7f", "\u07ff", "\uffff", "\U0010ffff"],
    "6.11": ["\ud7ff", "\ue000", "\ufffd", "\U0010ffff"],
    "6.22": ["\ufffe", "\uffff", "\U0001fffe", "\U0001ffff", "\U0010fffe", "\U0010ffff"],
    "6.23": ["\ufff9", "\ufffa", "\ufffb", "\ufffc", "\ufffd"],
}

INVALID = {
    "6.3": ["ceba e1bdb9 cf83 cebc ceb5 eda080 656469746564"],
    "6.6": ["ce", "ceba e1", "ceba e1bd", "f0", "f09f", "f09f98"],
    "6.8": ["f888808080", "fc8480808080"],
    "6.10": ["f7bfbfbf", "fbbfbfbfbf", "fdbfbfbfbfbf"],
    "6.11": ["f4908080"],
    "6.12": ["80", "bf", "80bf80bf80bf80"],
    "6.13": ["c020", "e020", "f020", "f820", "fc20"],
    "6.14": ["c0", "e080", "f08080", "dfef", "efbf", "f7bfbf"],
    "6.15": ["c0e080f08080"],
    "6.16": ["fe", "ff", "fefeffff"],
    "6.17": ["c0af", "e080af", "f08080af", "f8808080af", "fc80808080af"],
    "6.18": ["c1bf", "e09fbf", "f08fbfbf", "f887bfbfbf", "fc83bfbfbfbf"],
    "6.19": ["c080", "e08080", "f0808080", "f880808080", "fc8080808080"],
    "6.20": ["eda080", "edadbf", "edae80", "edafbf", "edb080", "edbe80", "edbfbf"],
    "6.21": ["eda080edb080", "edadbfedbfbf", "edafbfedbfbf"],
}


def utf8_cases():
    yield "6.1.2", "three empty fragments", b"".join(
        [frame(TEXT, last=False), frame(CONTINUATION, last=False), frame(CONTINUATION)]), None, closes(4102)
    yield "6.1.3", "a text between empty fragments", b"".join(
        [frame(TEXT, last=False), frame(CONTINUATION, asking(1), False), frame(CONTINUATION)]), None, echo(1)
    for number, texts in VALID.items():
        for text in texts:
            payload = asking(text)
            yield number, f"the right {text!a}", frame(TEXT, payload), None, echo(text)
            yield number, f"the right {text!a}, a byte a fragment", b"".join(fragments(payload, 1)), None, echo(text)
    for number, texts in INVALID.items():
        for text in texts:
            payload = b'{"type":"leave","conversation":"c","id":"' + bytes.fromhex(text)
            yield number, f"the wrong {text}", frame(TEXT, payload + b'"}'), None, closes(1007)
            if number == "6.6":
                yield number, f"the cut off {text}", frame(TEXT, payload), None, closes(1007)
            yield number, f"the wrong {text}, a byte a fragment", b"".join(fragments(payload + b'"}', 1)), None, \
                closes(1007)
    # The end of the message never arrives: the error must be detected before.
    wrong = b'{"id":"' + bytes.fromhex("cebae1bdb9cf83f4908080")
    yield "6.4.1", "a wrong text whose end does not come", frame(TEXT, wrong, False), None, closes(1007)
    yield "6.4.3", "the same within a frame", frame(TEXT, wrong + b"x" * 100)[:-100], None, closes(1007)
    yield "6.4.4", "the same, byte by byte", frame(TEXT, wrong + b"x" * 100)[:-100], 1, closes(1007)


def code(number, reason=b""):
    return frame(CLOSE, number.to_bytes(2, "big") + reason)


def close_cases():
    text = frame(TEXT, asking(1))
    yield "7.1.1", "a message, then a close", text + code(1000), None, echo(1) + closes(1000)
    yield "7.1.2", "two closes", code(1000) + code(1000), None, closes(1000)
    yield "7.1.3", "a ping behind a close", code(1000) + frame(PING), None, closes(1000)
    yield "7.1.4", "a message behind a close", code(1000) + text, None, closes(1000)
    yield "7.1.5", "a close within a message", frame(TEXT, b"{", False) + code(1000) + frame(CONTINUATION, b"}"), None, \
        closes(1000)
    yield "7.1.6", "64 KiB, then a close and a ping", frame(TEXT, asking(1, 65536)) + code(1000) + frame(PING), None, \
        echo(1) + closes(1000)
    yield "7.3.1", "a close without payload", frame(CLOSE), None, closes(1005)
    yield "7.3.2", "a close of one byte", frame(CLOSE, b"\x03"), None, closes(1002)
    yield "7.3.3", "a close with a code", code(1000), None, closes(1000)
    yield "7.3.4", "a close with a reason", code(1000, b"Hello"), None, closes(1000)
    yield "7.3.5", "a close with the longest reason", code(1000, b"x" * 123), None, closes(1000)
    yield "7.3.6", "a close with a longer one", code(1000, b"x" * 124), None, closes(1002)
    yield "7.5.1", "a close with a reason that is no UTF-8", code(1000, b"\xce\xba\xed\xa0\x80"), None, closes(1007)
    for number in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]:
        yield "7.7", f"the code {number}", code(number), None, closes(number)
    for number in [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999]:
        yield "7.9", f"the code {number}, which nobody may send", code(number), None, closes(1002)
    for number in [5000, 65535]:
        yield "7.13", f"the code {number}", code(number), None, closes(1002)


def size_cases():
    """Messages up to limits.message_bytes."""
    whole = asking(1, 65536)
    yield "9.1.1", "64 KiB", frame(TEXT, whole), None, echo(1)
    yield "9.1.2", "64 KiB and a byte", frame(TEXT, whole + b" "), None, closes(1009)
    yield "9.2.1", "64 KiB of bytes", frame(BINARY, b"\xfe" * 65536), None, closes(1003)
    for number, size in enumerate([64, 256, 1024, 4096, 16384, 65535], 1):
        yield f"9.3.{number}", f"64 KiB in fragments of {size}", b"".join(fragments(whole, size)), None, echo(1)
    yield "9.3.7", "64 KiB and a byte in fragments", b"".join(fragments(whole + b" ", 1024)), None, closes(1009)
    for number, chop in enumerate([64, 128, 256, 512, 1024, 2048], 1):
        yield f"9.5.{number}", f"64 KiB in pieces of {chop}", frame(TEXT, whole), chop, echo(1)
    for number, length in enumerate([50, 64, 256, 1024], 1):
        yield f"9.7.{number}", f"a hundred messages of {length} bytes", b"".join(
            frame(TEXT, asking(id, length)) for id in range(100)), None, echo(*range(100))
    yield "10.1.1", "64 KiB in fragments of 1300", b"".join(fragments(whole, 1300)), None, echo(1)


def play(edge, data, chop, wanted):
    peer = Peer(edge)
    peer.send(data, chop)
    return list(itertools.islice(peer.heard(), len(wanted)))


def main(edge):
    wrong = total = 0
    for number, what, data, chop, wanted in cases():
        total += 1
        try:
            heard = play(edge, data, chop, wanted)
        except Exception as error:  # Whatever it is, the other cases are played too.
            heard = repr(error)
        if heard != wanted:
            wrong += 1
            print(f"{number}, {what}: heard {str(heard)[:200]}, not {str(wanted)[:200]}")
    # Groups 12 and 13 are about compression: it is declined, and the session continues without.
    peer = Peer(edge, [PerMessageDeflate()])
    peer.send(frame(TEXT, asking(1)))
    if peer.accepted.extensions or next(peer.heard()) != ("ack", 1):
        wrong += 1
        print(f"12: compression was agreed on: {peer.accepted}")
    print(f"{total + 1 - wrong} of {total + 1} cases are as they should be")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
