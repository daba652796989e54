"""Reads recordings from their description in docs/recording-format.md alone, not with the program's reader."""

import struct
from types import SimpleNamespace

TYPES = {
    2: ("process", "IIQQQIIIIII", "pid parent begin loaded clock executable command tool backend profile reserved"),
    3: ("device", "IIII", "id name uuid multiprocessors"),
    4: ("stream", "IIII", "context stream flag device"),
    5: ("call", "QQIIIiII", "begin end name thread correlation result stack reserved"),
    6: ("copy", "QQIIIIQQBBBBIII", "begin end correlation device context stream graph_node bytes kind source "
        "destination channel channel_id peer asynchronous"),
    7: ("kernel", "QQIIIIQIIII", "begin end correlation device context stream graph_node name grid block reserved"),
    8: ("fill", "QQIIIIQQ", "begin end correlation device context stream graph_node bytes"),
    9: ("synchronization", "QQIIIIIIQ", "begin end correlation context stream kind event reserved event_record"),
    10: ("event", "IIIIQ", "correlation context stream event record"),
    11: ("range", "QQIIII", "begin end name domain thread of_process"),
    12: ("migration", "QQQIBBH", "begin end bytes device kind fault_of_gpu reserved"),
    13: ("overhead", "QQII", "begin end thread reserved"),
    15: ("note", "II", "text failure"),
    16: ("lost", "QQ", "dropped untimed"),
    17: ("end", "QII", "time reason error"),
    18: ("usage", "QQIIQQQQQII", "begin end thread correlation faults_before faults_until_end read_before "
         "from_disk_before cpu_before source_file reserved"),
    19: ("workers", "QQII", "time cpu children reserved"),
    20: ("file_read", "QQQQQII", "begin end offset bytes version thread file"),
    21: ("process_usage", "QQQQ", "time faults read from_disk"),
}
TEXTS = ("name", "domain", "executable", "command", "tool", "text", "uuid", "source_file", "file")  # fields that are numbers of names


class Recording:
    """The recording of one process: lists of records by type, in file order, with names resolved."""

    def __init__(self, path):
        data = path.read_bytes()
        if data[:8] != b"xfrec\r\n\x1a" or struct.unpack_from("<II", data, 8) != (1, 0):
            raise ValueError(f"{path.name} has no header: {data[:16]!r}")
        self.names, self.stacks, self.order, self.records = {0: ""}, {0: []}, [], {}
        at = 16
        while at < len(data):
            kind, reserved, size = struct.unpack_from("<HHI", data, at)
            payload = data[at + 8 : at + 8 + size]
            if reserved or size % 8 or len(payload) < size:
                raise ValueError(f"{path.name} is torn at {at} of {len(data)}")
            self._take(kind, payload)
            at += 8 + size

    def _take(self, kind, payload):
        first, length = struct.unpack_from("<II", payload)
        if kind == 1:
            assert first not in self.names and not any(payload[8 + length :]), "named twice, or no zeros behind it"
            self.names[first] = payload[8 : 8 + length].decode()
        elif kind == 14:
            frames = struct.unpack_from(f"<{length}I", payload, 8)
            self.stacks[first] = [self.names[frame] for frame in frames]
        else:
            word, layout, fields = TYPES[kind]
            values = dict(zip(fields.split(), struct.unpack("<" + layout, payload)))
            values.update({field: self.names[values[field]] for field in TEXTS if field in values})
            self.order.append(word)
            self.records.setdefault(word, []).append(SimpleNamespace(**values))

    def __getattr__(self, word):
        """`recording.copy` is the list of all records of type copy."""
        if word.startswith("_"):
            raise AttributeError(word)
        return self.records.get(word, [])
