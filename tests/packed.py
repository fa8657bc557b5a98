"""Files packed in every way that CSV files come in."""

import bz2
import gzip
import io
import lzma
import zipfile

import pyarrow as pa


def zipped(files):
    """An archive of some files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            # Without the time: the names of tests hold these bytes, and workers must agree on them.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


PACKED = {
    "": bytes,
    ".gz": lambda content: gzip.compress(content, mtime=0),
    ".bz2": bz2.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
    ".xz": lzma.compress,
    ".zip": lambda content: zipped({"rows.csv": content}),
}
"""Endings, and what packs bytes so."""
