"""Every script of the gallery runs, quietly, and leaves one picture."""

import runpy
import sys
from pathlib import Path

import pytest

GALLERY = sorted((Path(__file__).parent.parent / "docs" / "gallery").glob("*.py"))


@pytest.mark.parametrize("script", GALLERY, ids=lambda path: path.stem)
def test_a_script_writes_its_picture_where_it_is_told(script, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    runpy.run_path(str(script), run_name="__main__")
    (picture,) = tmp_path.iterdir()
    assert picture.name == f"{script.stem}.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out == ""


def test_the_gallery_is_complete():
    assert {path.stem for path in GALLERY} == {
        "abstain",
        "asymmetric",
        "calibrate",
        "displays",
        "gpu",
        "groups",
        "intervals",
        "off_distribution",
        "pixels",
        "promise",
        "report",
        "save",
        "scan",
        "tables",
        "to_onnx",
        "transform",
        "updates",
        "variance_parts",
    }


@pytest.mark.parametrize("script", GALLERY, ids=lambda path: path.stem)
def test_a_script_is_short_and_says_what_to_look_at(script):
    text = script.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    assert "\nLook " in text.split('"""')[1]
    # pyplot would choose a backend and keep every figure.
    assert "pyplot" not in text
