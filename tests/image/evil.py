#!/usr/bin/env python3
"""Writes archives that attack whoever unpacks them, one file each, into the folder that is named.

    evil.py FOLDER SECRET OUTSIDE

SECRET is a file, and OUTSIDE a folder, beside the one in which a naive unpacker works (which is one level deep): FOLDER/../.
Each is written with a header of our own, since tarfile itself would not write most of them. The suite (tests/cli/image.sh) shows for those in `naive.txt` that an
unpacker which believes names can be made to write or link outside, and for all of them that Cordon's cannot.
"""
import bz2, gzip, hashlib, json, lzma, os, struct, sys

out, secret, outside = sys.argv[1:4]
os.makedirs(out, exist_ok=True)


def num(v, n):
    return b"%0*o\0" % (n - 1, v)


def header(name, kind=b"0", size=0, link=b"", mode=0o644, uid=0, gid=0, mtime=1700000000, magic=b"ustar\x0000", major=0, minor=0, prefix=b"", size_field=None):
    h = bytearray(512)
    h[0:len(name[:100])] = name[:100]
    h[100:108] = num(mode, 8)
    h[108:116] = num(uid, 8)
    h[116:124] = num(gid, 8)
    h[124:136] = size_field if size_field is not None else num(size, 12)
    h[136:148] = num(mtime, 12)
    h[156:157] = kind
    h[157:157 + len(link[:100])] = link[:100]
    h[257:265] = magic
    h[329:337] = num(major, 8)
    h[337:345] = num(minor, 8)
    h[345:345 + len(prefix)] = prefix
    return seal(h)


def seal(h):
    h[148:156] = b" " * 8
    h[148:156] = b"%06o\0 " % sum(h)
    return bytes(h)


def pad(data):
    return data + b"\0" * (-len(data) % 512)


def file(name, data=b"owned\n", **k):
    return header(name, size=len(data), **k) + pad(data)


def folder(name, mode=0o755, **k):
    return header(name, b"5", mode=mode, **k)


def link(name, to, **k):
    return header(name, b"2", link=to, mode=0o777, **k)


def hard(name, to, **k):
    return header(name, b"1", link=to, **k)


def pax(records, kind=b"x"):
    body = b""
    for key, value in records:
        rest = len(key) + len(value) + 3
        n = rest + len(str(rest))
        while len(str(n)) + rest != n:
            n = len(str(n)) + rest
        body += b"%d %s=%s\n" % (n, key, value)
    return header(b"pax", kind, size=len(body)) + pad(body)


def gnu(kind, text):
    return header(b"././@LongLink", kind, size=len(text) + 1, magic=b"ustar  \0") + pad(text + b"\0")


END = b"\0" * 1024
o, s = outside.encode(), secret.encode()
ob = os.path.basename(outside).encode()
sb = os.path.basename(secret).encode()
sane = file(b"sane", b"sane\n")

# name -> (bytes, what a naive unpacker does: the path below OUTSIDE that appears, or "link" where the secret's content gets in, or None)
evil = {
    "absolute": (file(o + b"/absolute"), "absolute"),
    "absolute-folder": (folder(o + b"/absfolder"), "absfolder"),
    "dotdot": (file(b"../" + ob + b"/dotdot"), "dotdot"),
    "dotdot-inside": (folder(b"d") + file(b"d/../../" + ob + b"/dotdot2"), "dotdot2"),
    "dotdot-only": (folder(b"..", mode=0o777), None),
    "dotdot-trailing": (folder(b"d/.."), None),
    "dotdot-prefix": (file(ob + b"/dotdot3", prefix=b".."), "dotdot3"),
    "dotdot-pax": (pax([(b"path", b"../" + ob + b"/dotdot4")]) + file(b"harmless"), "dotdot4"),
    "dotdot-gnu": (gnu(b"L", b"../" + ob + b"/dotdot5") + file(b"harmless", magic=b"ustar  \0"), "dotdot5"),
    "dotdot-pax-after-gnu": (gnu(b"L", b"fine") + pax([(b"path", b"../" + ob + b"/dotdot6")]) + file(b"harmless"), None),
    "dot-inside": (folder(b"d") + file(b"d/./f"), None),
    "empty-part": (folder(b"d") + file(b"d//f"), None),
    "empty-name": (file(b""), None),
    "link-then-through": (link(b"l", o) + file(b"l/through"), "through"),
    "link-then-through-relative": (link(b"l", b"../" + ob) + file(b"l/through2"), "through2"),
    "link-chain": (folder(b"d") + link(b"d/a", b"..") + link(b"d/a/b", b"../" + ob) + file(b"b/chain"), "chain"),
    "link-then-folder-through": (link(b"l", o) + folder(b"l/viafolder"), "viafolder"),
    "link-then-whiteout-through": (link(b"l", o) + file(b"l/.wh.kept", b""), None),
    "link-then-opaque-through": (link(b"l", o) + file(b"l/.wh..wh..opq", b""), None),
    "link-replaces-folder": (folder(b"d") + link(b"d", o) + file(b"d/replaced"), "replaced"),
    "link-replaces-folder-cached": (folder(b"a") + file(b"a/x") + hard(b"y", b"a/x") + link(b"a", o) + file(b"a/late"), None),
    "link-inside-then-through": (folder(b"real") + link(b"l", b"real") + file(b"l/inside"), None),
    "dangling-link-then-file": (link(b"f", o + b"/dangling") + file(b"f"), "dangling"),
    "hard-link-absolute": (hard(b"h", s), "link"),
    "hard-link-dotdot": (hard(b"h", b"../" + sb), "link"),
    "hard-link-through-link": (link(b"l", b"..") + hard(b"h", b"l/" + sb), "link"),
    "hard-link-pax": (pax([(b"linkpath", b"../" + sb)]) + hard(b"h", b"harmless"), "link"),
    "hard-link-then-write": (hard(b"h", b"../" + sb) + file(b"h", b"overwritten\n"), None),
    "hard-link-to-itself": (file(b"h") + hard(b"h", b"h"), None),
    "hard-link-to-folder": (folder(b"d") + hard(b"h", b"d"), None),
    "hard-link-to-whiteout": (file(b".wh.w", b"") + hard(b"h", b"w"), None),
    "hard-link-to-nothing": (hard(b"h", b"missing"), None),
    "file-over-full-folder": (folder(b"d") + file(b"d/f") + file(b"d"), None),
    "file-as-folder": (file(b"f") + file(b"f/x"), None),
    "root-is-a-link": (link(b".", o) + file(b"rootlink"), None),
    "root-is-a-file": (file(b"./"), None),
    "whiteout-of-dotdot": (file(b".wh...", b""), None),
    "whiteout-of-dot": (file(b".wh..", b""), None),
    "whiteout-empty": (file(b".wh.", b""), None),
    "whiteout-as-folder": (folder(b".wh.d") + file(b".wh.d/x"), None),
    "whiteout-with-data": (file(b".wh.x", b"data"), None),
    "whiteout-as-link": (link(b".wh.x", o), None),
    "size-negative": (header(b"f", size_field=b"\xff" * 12) + sane, None),
    "size-huge": (header(b"f", size_field=b"\x80" + b"\0" * 3 + b"\x7f" + b"\xff" * 7) + sane, None),
    "size-base256-overflow": (header(b"f", size_field=b"\x80" + b"\x01" * 11) + sane, None),
    "size-pax-huge": (pax([(b"size", b"18446744073709551615")]) + file(b"f"), None),
    "size-pax-overflow": (pax([(b"size", b"99999999999999999999999")]) + file(b"f"), None),
    "size-beyond-the-end": (header(b"f", size=1 << 30) + b"short", None),
    "size-of-a-folder": (header(b"d", b"5", size=512, mode=0o755) + pad(b"x"), None),
    "larger-than-all": (pax([(b"GNU.sparse.major", b"1"), (b"GNU.sparse.minor", b"0"), (b"GNU.sparse.name", b"bomb"), (b"GNU.sparse.realsize", str(1 << 50).encode())]) + file(b"x", b"0\n"), None),
    "sparse-beyond-its-size": (pax([(b"GNU.sparse.major", b"1"), (b"GNU.sparse.minor", b"0"), (b"GNU.sparse.name", b"s"), (b"GNU.sparse.realsize", b"10")]) + file(b"x", pad(b"1\n1000\n4\n") + b"data"), None),
    "sparse-overlaps": (pax([(b"GNU.sparse.map", b"0,4,2,4"), (b"GNU.sparse.size", b"6")]) + file(b"x", b"datadata"), None),
    "sparse-overflows": (pax([(b"GNU.sparse.map", b"18446744073709551615,4"), (b"GNU.sparse.size", b"18446744073709551615")]) + file(b"x", b"data"), None),
    "sparse-map-endless": (pax([(b"GNU.sparse.major", b"1"), (b"GNU.sparse.minor", b"0"), (b"GNU.sparse.realsize", b"10")]) + file(b"x", b"9" * 4096), None),
    "sparse-map-promises": (pax([(b"GNU.sparse.major", b"1"), (b"GNU.sparse.minor", b"0"), (b"GNU.sparse.realsize", b"10")]) + file(b"x", pad(b"99999999\n1\n")), None),
    "sparse-half": (pax([(b"GNU.sparse.offset", b"0"), (b"GNU.sparse.size", b"10")]) + file(b"x", b"data"), None),
    "pax-nul-in-path": (pax([(b"path", b"a\0b")]) + file(b"x"), None),
    "pax-length-lies": (header(b"pax", b"x", size=16) + pad(b"999 path=../x\nxx") + file(b"x"), None),
    "pax-length-zero": (header(b"pax", b"x", size=12) + pad(b"0 path=../x\n") + file(b"x"), None),
    "pax-too-long": (header(b"pax", b"x", size=2 << 20) + pad(b"2097152 comment=" + b"x" * ((2 << 20) - 17) + b"\n") + file(b"x"), None),
    "pax-global-path": (pax([(b"path", b"../" + ob + b"/global")], b"g") + file(b"x"), None),
    "pax-global-size": (pax([(b"size", b"0")], b"g") + file(b"x"), None),
    "pax-without-entry": (pax([(b"path", b"x")]), None),
    "gnu-name-too-long": (gnu(b"L", b"x/" * 40000) + file(b"x"), None),
    "headers-without-end": (gnu(b"L", b"x") * 1000 + file(b"x"), None),
    "component-too-long": (gnu(b"L", b"c" * 256) + file(b"x"), None),
    "path-too-deep": (gnu(b"L", b"d/" * 300 + b"f") + file(b"x"), None),
    "link-target-too-long": (gnu(b"K", b"t" * 5000) + link(b"x", b"y"), None),
    "link-without-target": (link(b"x", b""), None),
    "kind-unknown": (header(b"x", b"Z"), None),
    "checksum-wrong": (file(b"x")[:148] + b"000000\0 " + file(b"x")[156:], None),
    "number-is-text": (seal(bytearray(header(b"x")[:100] + b"rwxrwxrw" + header(b"x")[108:])), None),
    "cut-in-header": (file(b"x") + file(b"y")[:300], None),
    "cut-in-data": (file(b"x", b"z" * 5000)[:2000], None),
    "cut-between-entries": (file(b"x") + file(b"y"), None),
    "not-a-tar": (b"#!/bin/sh\nid\n" * 200, None),
}
# Those that are cut end where they end.
for name, (data, naive) in evil.items():
    with open(os.path.join(out, name + ".tar"), "wb") as f:
        f.write(data if name.startswith("cut-") or name == "pax-without-entry" else data + END)

# A bomb: little that becomes much, as members of a gzip file one behind the other. The zeros are a file's, so that only sizes can refuse it.
huge = 1200 << 20
with open(os.path.join(out, "bomb.tar.gz"), "wb") as f:
    f.write(gzip.compress(header(b"zeros", size_field=b"\x80\0\0\0" + struct.pack(">Q", huge))))
    f.write(gzip.compress(b"\0" * (1 << 20)) * (huge >> 20))
    f.write(gzip.compress(END))


def zeros_layer(size):
    """A layer with a file of zeros: its header, how long it is, and its digest."""
    head = header(b"zeros", size_field=b"\x80\0\0\0" + struct.pack(">Q", size))
    h = hashlib.sha256(head)
    for _ in range(size >> 20):
        h.update(bytes(1 << 20))
    h.update(END)
    return head, len(head) + size + len(END), h.hexdigest()


def saved(layers):
    """What docker save writes, with these layers: (entry of the archive, digest)."""
    config = json.dumps({"architecture": {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine], "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": ["sha256:" + d for _, d in layers]}}).encode()
    manifest = json.dumps([{"Config": "config.json", "RepoTags": ["evil:1"], "Layers": ["%d.tar" % i for i in range(len(layers))]}]).encode()
    return file(b"manifest.json", manifest) + file(b"config.json", config) + b"".join(e for e, _ in layers) + END


def holes_behind(name, head, size):
    """A sparse file in GNU's form: its first block, and a hole."""
    h = bytearray(header(name, b"S", size=512, magic=b"ustar  \0"))
    h[386:434] = num(0, 12) + num(512, 12) + num(size, 12) + num(0, 12)
    h[483:495] = num(size, 12)
    return seal(h) + head


# The same where nothing is compressed, and the archive around the layer makes it of nothing.
head, size, digest = zeros_layer(huge)
with open(os.path.join(out, "layer-that-is-a-hole.tar"), "wb") as f:
    f.write(saved([(holes_behind(b"0.tar", head, size), digest)]))
# Each layer may be as large as it is, and all together not.
layers = []
for i in range(2):
    head, size, digest = zeros_layer((600 << 20) + (i << 20))
    layers.append((file(b"%d.tar" % i, gzip.compress(head) + gzip.compress(bytes(1 << 20)) * (600 + i) + gzip.compress(END)), digest))
with open(os.path.join(out, "layers-together.tar.gz"), "wb") as f:
    f.write(gzip.compress(saved(layers)))
good = sane + END
z = gzip.compress(good)
for name, data in {
    "gzip-cut": z[:-5],
    "gzip-damaged": z[:20] + bytes([z[20] ^ 255]) + z[21:],
    "gzip-garbage-behind": z + b"garbage that is no member",
    "bzip2-cut": bz2.compress(good)[:-5],
    "bzip2-garbage-behind": bz2.compress(good) + b"garbage",
    "xz-cut": lzma.compress(good)[:-5],
    "xz-garbage-behind": lzma.compress(good) + b"garbage",
    "xz-memory": lzma.compress(good, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}]),
    "zstd-damaged": b"\x28\xb5\x2f\xfd" + b"\xff" * 64,
}.items():
    with open(os.path.join(out, name + ".tar.z"), "wb") as f:
        f.write(data)

with open(os.path.join(out, "naive.txt"), "w") as f:
    for name, (_, naive) in evil.items():
        if naive:
            f.write("%s %s\n" % (name, naive))
