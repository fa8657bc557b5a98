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
            archive.writestr(name, content)
    return buffer.getvalue()


PACKED = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
    ".xz": lzma.compress,
    ".zip": lambda content: zipped({"rows.csv": content}),
}
"""Endings, and what packs bytes so."""
