#!/usr/bin/env python3
"""An unpacker that believes what an archive says: naive.py ARCHIVE FOLDER. Shows what the attacks of evil.py do where nobody checks."""
import os, sys, tarfile

with tarfile.open(sys.argv[1]) as t:
    for m in t:
        at = os.path.join(sys.argv[2], m.name)
        os.makedirs(os.path.dirname(at), exist_ok=True)
        if m.isdir():
            os.makedirs(at, exist_ok=True)
        elif m.issym():
            if os.path.isdir(at) and not os.path.islink(at):
                os.rmdir(at)
            os.symlink(m.linkname, at)
        elif m.islnk():
            os.link(os.path.join(sys.argv[2], m.linkname), at)
        elif m.isreg():
            with open(at, "wb") as f:
                f.write(t.extractfile(m).read())
