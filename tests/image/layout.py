#!/usr/bin/env python3
"""Writes an OCI layout with two layers and all that a config can say: layout.py FOLDER [CHANGE].

CHANGE spoils one thing: blob, diff-id, config, manifest, arch, two, layers, traverse, json, controls; or is odd: user-lines, workdir-lines.
"""
import gzip, hashlib, io, json, os, sys, tarfile

out, change = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
blobs = os.path.join(out, "blobs", "sha256")
os.makedirs(blobs, exist_ok=True)


def put(data):
    digest = hashlib.sha256(data).hexdigest()
    with open(os.path.join(blobs, digest), "wb") as f:
        f.write(data)
    return "sha256:" + digest


def layer(entries):
    b = io.BytesIO()
    with tarfile.open(fileobj=b, mode="w") as t:
        for name, kind, data in entries:
            i = tarfile.TarInfo(name)
            i.mtime = 1700000000
            i.mode = 0o755 if kind == "d" else 0o644
            if kind == "d":
                i.type = tarfile.DIRTYPE
                t.addfile(i)
            elif kind == "l":
                i.type, i.linkname = tarfile.SYMTYPE, data
                t.addfile(i)
            else:
                i.size = len(data)
                i.uid = i.gid = 1000 if kind == "u" else 0
                t.addfile(i, io.BytesIO(data))
    return b.getvalue()


low = layer([("etc", "d", b""), ("etc/a", "f", b"a\n"), ("etc/b", "f", b"b\n"), ("full", "d", b""), ("full/x", "f", b"x\n"), ("home", "d", b""), ("home/u", "u", b"u\n")])
high = layer([("etc", "d", b""), ("etc/.wh.a", "f", b""), ("etc/c", "f", b"c\n"), ("full", "d", b""), ("full/.wh..wh..opq", "f", b""), ("full/y", "f", b"y\n")])
tars = [low, high]
packed = [gzip.compress(low, mtime=0), high]
ids = ["sha256:" + hashlib.sha256(t).hexdigest() for t in tars]
if change == "diff-id":
    ids[1] = "sha256:" + "0" * 64
arch = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
config = {"architecture": "s390x" if change == "arch" else arch, "os": "linux",
          "config": {"Env": ["PATH=/bin", "A=b=c", "nonsense"], "Entrypoint": ["/bin/e"], "Cmd": ["one", "two words"], "WorkingDir": "/srv/../work/", "User": "1000:1000",
                     "Shell": ["/bin/bash", "-c"], "OnBuild": ["RUN true"]},
          "rootfs": {"type": "layers", "diff_ids": ids[:1] if change == "layers" else ids}}
if change == "controls":
    config["config"]["Cmd"] = ["\x1b]0;owned\x07"]
if change == "user-lines":
    config["config"]["User"] = "a\nRUN b"
if change == "workdir-lines":
    config["config"]["WorkingDir"] = "/a\nRUN b"
text = json.dumps(config).encode()
if change == "json":
    text = text[:-1] + b', "os": "linux"}'
c = put(text)
blob_digests = [put(p) for p in packed]
layers = [{"mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": d, "size": len(p)} for d, p in zip(blob_digests, packed)]
if change == "traverse":
    layers[0]["digest"] = "sha256:../../../../../../etc/passwd" + "0" * 33
m = put(json.dumps({"schemaVersion": 2, "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": c, "size": len(text)}, "layers": layers}).encode())
manifests = [{"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": m, "size": 1, "platform": {"os": "linux", "architecture": arch}, "annotations": {"org.opencontainers.image.ref.name": "one"}},
             {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "sha256:" + "1" * 64, "size": 1, "platform": {"os": "windows", "architecture": arch}}]
if change == "two":
    manifests.append({"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "sha256:" + "2" * 64, "size": 1, "annotations": {"org.opencontainers.image.ref.name": "two"}})
for name, value in {"oci-layout": {"imageLayoutVersion": "1.0.0"}, "index.json": {"schemaVersion": 2, "manifests": manifests}}.items():
    with open(os.path.join(out, name), "w") as f:
        json.dump(value, f)
spoil = {"blob": blob_digests[0], "config": c, "manifest": m}.get(change)
if spoil:
    with open(os.path.join(blobs, spoil[7:]), "r+b") as f:
        f.seek(20)
        f.write(b"spoiled")
print(m)
