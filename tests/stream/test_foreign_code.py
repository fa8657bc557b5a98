"""Files are data: none says what is run, or what else is read."""

import json
import os
import pickle

import h5py
import numpy as np
import pytest
import zarr
from written import ZARR_FORMATS, numbers, write_zarr

from elmband import scan
from elmband.sources.encode import TableEncoder
from elmband.sources.stream.hdf5_file import foreign


class Evil:
    """What a pickle can do: here it makes a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def read(path, **options):
    """Read all there is, text too."""
    for encoder in (None, TableEncoder()):
        rows = scan(path, encoder=encoder, **options)
        for chunk in rows.chunks():
            assert np.isfinite(chunk.X).all()


def forged_v2(path, how, **more):
    """Write an array of version 2 whose only piece is a pickle that does something."""
    path.mkdir()
    meta = {"zarr_format": 2, "shape": [4, 2], "chunks": [4, 2], "dtype": "<f8", "fill_value": 0,
            "order": "C", "compressor": None, "filters": None, **how, **more}  # fmt: skip
    (path / ".zarray").write_text(json.dumps(meta))
    (path / "0.0").write_bytes(pickle.dumps(Evil(path.parent / "ran")))
    return meta


PICKLE = {"id": "pickle", "protocol": 5}


@pytest.mark.parametrize(
    "how",
    [
        {"filters": [PICKLE]},
        {"compressor": PICKLE},
        {"filters": [PICKLE], "dtype": "|O"},
        {"compressor": {"id": "zlib", "level": 1}, "filters": [{"id": "vlen-utf8"}, PICKLE]},
        {"filters": [{"id": "msgpack2"}]},
        {"filters": [{"id": "one of my own"}]},
        {"filters": ["pickle"]},
        {"filters": [{"name": "pickle"}]},
    ],
)
def test_a_store_that_names_another_codec_is_not_opened(tmp_path, how):
    forged_v2(tmp_path / "a.zarr", how)
    with pytest.raises(ValueError, match=r"a\.zarr names the codec '.*which is none of those"):
        read(tmp_path / "a.zarr")
    assert not (tmp_path / "ran").exists()


def test_the_same_within_groups_and_where_metadata_are_gathered(tmp_path):
    meta = forged_v2(tmp_path / "a", {"filters": [PICKLE]})
    group = tmp_path / "group.zarr"
    (group / "inner").mkdir(parents=True)
    for folder in (group, group / "inner"):
        (folder / ".zgroup").write_text('{"zarr_format": 2}')
    (tmp_path / "a").rename(group / "inner" / "a")
    with pytest.raises(ValueError, match="'pickle'"):
        read(group)
    harmless = {**meta, "filters": None}
    (group / "inner" / "a" / ".zarray").write_text(json.dumps(harmless))
    gathered = {".zgroup": {"zarr_format": 2}, "inner/a/.zarray": meta}
    text = {"zarr_consolidated_format": 1, "metadata": gathered}
    (group / ".zmetadata").write_text(json.dumps(text))
    with pytest.raises(ValueError, match="'pickle'"):
        read(group)
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(3 not in ZARR_FORMATS, reason="an older Zarr")
@pytest.mark.parametrize("where", ["codecs", "shards", "gathered"])
def test_the_same_in_version_3(tmp_path, where):
    path = tmp_path / "a.zarr"
    write_zarr(path, {"": numbers(40, 2)}, version=3)
    meta = json.loads((path / "zarr.json").read_text())
    evil = {"name": "numcodecs.pickle", "configuration": {}}
    inner = {"chunk_shape": [1, 1], "codecs": [evil], "index_codecs": []}
    if where == "codecs":
        meta["codecs"].append(evil)
    elif where == "shards":
        meta["codecs"] = [{"name": "sharding_indexed", "configuration": inner}]
    else:
        meta["codecs"].append(evil)
        kept = {"kind": "inline", "must_understand": False, "metadata": {"x": meta}}
        meta = {"zarr_format": 3, "node_type": "group", "consolidated_metadata": kept}
    (path / "zarr.json").write_text(json.dumps(meta))
    with pytest.raises(ValueError, match=r"names the codec 'numcodecs\.pickle'"):
        read(path)


def test_objects_are_not_made_of_bytes(tmp_path):
    forged_v2(tmp_path / "a.zarr", {"dtype": "|O"})
    with pytest.raises(ValueError, match="holds objects of Python, which are never loaded"):
        read(tmp_path / "a.zarr")


def test_notes_of_people_are_no_codecs(tmp_path):
    path = tmp_path / "a.zarr"
    for version in ZARR_FORMATS:
        write_zarr(path, {f"v{version}": numbers(40, 2)}, version=ZARR_FORMATS[0])
    zarr.open_group(str(path), mode="a").attrs["filters"] = [{"name": "Gauss"}, "blur"]
    read(path, features=f"v{ZARR_FORMATS[0]}")


def test_metadata_that_are_no_json(tmp_path):
    write_zarr(tmp_path / "a.zarr", {"": numbers(40, 2)})
    (tmp_path / "a.zarr" / ".zarray").write_bytes(b'{"zarr_format": 2' + b"[" * 100_000)
    with pytest.raises(ValueError, match=r"a\.zarr cannot be read as Zarr, .*\.zarray is no JSON"):
        scan(tmp_path / "a.zarr")


def test_a_piece_that_no_memory_holds_is_not_begun(tmp_path):
    forged_v2(tmp_path / "a.zarr", {"shape": [2**40, 2], "chunks": [2**40, 2]})
    with pytest.raises(ValueError, match=r"in pieces of 1\.64e\+04 GiB, and a piece is read at"):
        next(iter(scan(tmp_path / "a.zarr").chunks()))


def hdf5(path, make):
    with h5py.File(path, "w") as file:
        make(file)
    return path


def by_plugin(file):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((4, 2))
    plist.set_filter(32015, h5py.h5z.FLAG_OPTIONAL)
    space = h5py.h5s.create_simple((4, 2))
    h5py.h5d.create(file.id, b"X", h5py.h5t.IEEE_F64LE, space, plist)


def outside(file):
    file.create_dataset("X", (4, 2), "f8", external=[("secret.txt", 0, 64)])


def of_others(file):
    layout = h5py.VirtualLayout((4, 2), "f8")
    layout[:] = h5py.VirtualSource("other.h5", "X", (4, 2))
    file.create_virtual_dataset("X", layout)


def of_its_own_outside(file):
    file.create_dataset("a", (4, 2), "f8", external=[("secret.txt", 0, 64)])
    layout = h5py.VirtualLayout((4, 2), "f8")
    layout[:] = h5py.VirtualSource(".", "a", (4, 2))
    file.create_virtual_dataset("X", layout)


def of_addresses(file):
    """A type that h5py takes for objects of Python: the file would say where in memory they are."""
    kind = h5py.h5t.create(h5py.h5t.OPAQUE, 8)
    kind.set_tag(b"NUMPY:|O")
    h5py.h5d.create(file.id, b"X", kind, h5py.h5s.create_simple((4,)))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (by_plugin, "is packed by filter 32015, which is not part of HDF5"),
        (outside, "has its values in a file that is not HDF5"),
        (of_others, "is made of data sets in other files; give these files, as a list"),
        (of_its_own_outside, "has its values in a file that is not HDF5"),
    ],
)
def test_data_sets_that_are_not_in_the_file(tmp_path, make, words):
    (tmp_path / "secret.txt").write_bytes(bytes(64))
    hdf5(tmp_path / "other.h5", lambda file: file.create_dataset("X", data=numbers(4, 2)))
    path = hdf5(tmp_path / "a.h5", make)
    with pytest.raises(ValueError, match=f"data set 'X' {words}"):
        next(iter(scan(path, features="X", encoder=TableEncoder()).chunks()))


def test_addresses_are_no_objects(tmp_path):
    path = hdf5(tmp_path / "a.h5", of_addresses)
    with h5py.File(path) as file:
        assert file["X"].dtype == object
        assert "objects that are neither numbers nor text" in foreign(file["X"])
    with pytest.raises(ValueError, match="of type object, not numbers"):
        scan(path, features="X", encoder=TableEncoder())


def test_what_hdf5_can_do_by_itself_is_read(tmp_path):
    values = numbers(40, 2)

    def make(file):
        for how in ("gzip", "lzf"):
            file.create_dataset(how, data=values, compression=how, shuffle=True, fletcher32=True)
        layout = h5py.VirtualLayout((40, 2), "f8")
        layout[:] = h5py.VirtualSource(".", "gzip", (40, 2))
        file.create_virtual_dataset("virtual", layout)

    path = hdf5(tmp_path / "a.h5", make)
    for name in ("gzip", "lzf", "virtual"):
        rows = scan(path, features=name)
        assert np.array_equal(np.concatenate([chunk.X for chunk in rows.chunks()]), values)


def test_pickled_arrays_are_not_loaded(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[Evil(tmp_path / "ran")]], dtype=object))
    with pytest.raises(ValueError, match="holds pickled objects, which are never loaded"):
        read(tmp_path / "a.npy")
    assert not (tmp_path / "ran").exists()
