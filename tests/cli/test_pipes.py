"""Standard input and output, full disks, readers that go away, and interruptions."""

import json
import re
import signal
import subprocess
import time

import pandas as pd
import pytest
from running import COMMAND, ENVIRONMENT, in_shell, is_one_sentence, run

pytestmark = pytest.mark.slow

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def expected(folder, tmp_path_factory):
    """What a file is predicted to be, without pipes."""
    out = tmp_path_factory.mktemp("expected") / "out.csv"
    run("predict", "patients.safetensors", "patients.csv", "-o", out, cwd=folder)
    return out.read_text("utf-8")


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_tables_come_in_and_go_out(folder, tmp_path, expected, kind):
    table, path = pd.read_parquet(folder / "patients.parquet"), tmp_path / f"table.{kind}"
    {"csv": table.to_csv, "parquet": table.to_parquet, "arrow": table.to_feather}[kind](path)
    command = ("predict", "patients.safetensors", "-", "-o", "-", "--json")
    said, told = run(*command, given=path.read_bytes(), cwd=folder)
    assert said == expected
    assert json.loads(told)["rows"] == len(said.splitlines()) - 1 == 442


def test_models_travel_through_pipes(folder):
    fit = "elmband fit - -t species --neurons 10 --max-error 0.1 -o - < iris.csv"
    said, told = in_shell(f"{fit} | elmband info - --json", folder)
    assert json.loads(said)["classes"] == ["setosa", "versicolor", "virginica"]
    assert "written to standard output" in told


def test_triage_writes_to_pipes(folder, tmp_path):
    triage = (
        f"elmband triage iris.safetensors iris.csv --coverage 0.5 --review {tmp_path / 'r.csv'}"
    )
    said, told = in_shell(f"{triage} -o - --json", folder)
    accepted = json.loads(told)["accepted"]
    assert said.count("\n") == accepted + 1
    assert len(pd.read_csv(tmp_path / "r.csv")) == 150 - accepted


def test_report_and_export_write_to_pipes(folder):
    pytest.importorskip("onnx")
    said, _ = in_shell("elmband export - -o - < iris.safetensors | wc -c", folder)
    assert int(said) > 1000
    said, _ = in_shell("elmband report iris.safetensors - -t species -o - < iris.csv", folder)
    assert said.startswith("<!")
    assert said.rstrip().endswith("</html>")


def test_a_reader_that_goes_away_is_no_failure_to_tell_of(folder):
    predict = "elmband predict patients.safetensors patients.csv -o -"
    said, _ = in_shell(f"set +o pipefail; {predict} | head -1", folder)
    assert said.strip() == "mean,lower_0.95,upper_0.95"


@pytest.mark.parametrize(
    "command", ["info iris.safetensors", "fit iris.csv -t species --neurons 5 -o -"]
)
def test_nobody_reads_at_all(folder, command):
    line = f"elmband {command} | true; echo ${{PIPESTATUS[0]}}"
    assert in_shell(f"set +o pipefail; {line}", folder) == ("141\n", "")


@pytest.mark.parametrize(
    "command",
    [
        "predict patients.safetensors patients.csv -o -",
        "evaluate patients.safetensors patients.csv -t progress",
        "export patients.safetensors -o -",
    ],
)
def test_a_full_device_is_one_sentence(folder, command):
    said, complained = in_shell(f"elmband {command} > /dev/full", folder, code=1)
    assert said == ""
    # These rows were in training, of which there is a note.
    assert is_one_sentence(re.sub(r"^Note: .*\n", "", complained))
    assert "No space left on device" in complained


@pytest.mark.parametrize(
    "command",
    [
        "fit iris.csv -t species --neurons 40 -o",
        "predict patients.safetensors patients.csv --level 0.5 --level 0.9 -o OUT.csv",
        "predict patients.safetensors patients.csv --keep-all -o OUT.parquet",
        "triage patients.safetensors patients.csv --max-width 150 --review R.csv -o OUT.arrow",
        "report patients.safetensors patients.csv -t progress -o OUT.html",
        "export patients.safetensors -o OUT.onnx",
    ],
    ids=["fit", "csv", "parquet", "triage", "report", "export"],
)
def test_a_full_disk_leaves_no_part_of_a_file(folder, tmp_path, command):
    name = command.rpartition(" ")[2] if "OUT" in command else "m.safetensors"
    (tmp_path / name).write_text("old")
    line = command.removesuffix(name).replace("R.csv", str(tmp_path / "R.csv"))
    # As much as a file may hold, in units of 1024 bytes.
    _, complained = in_shell(f"ulimit -f 8; elmband {line} {tmp_path / name}", folder, code=1)
    assert is_one_sentence(complained)
    assert " could not be written and is left as it was: File too large." in complained
    assert str(tmp_path) in complained
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "old"


@pytest.fixture(scope="module")
def long(folder, tmp_path_factory):
    """Half a million rows: some seconds of work, whatever the machine."""
    path = tmp_path_factory.mktemp("long") / "long.csv"
    head, *rows = (folder / "patients.csv").read_text("utf-8").splitlines()
    path.write_text("\n".join([head, *rows * 1200]), encoding="utf-8")
    return path


def interrupted(process, number=signal.SIGINT):
    process.send_signal(number)
    said, complained = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert complained == b""
    return said


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_while_writing_leaves_nothing(folder, long, tmp_path, name):
    command = ["predict", folder / "patients.safetensors", long, "-o", "out.csv"]
    process = subprocess.Popen(
        [*COMMAND, *command], cwd=tmp_path, env=ENVIRONMENT, stdout=-1, stderr=-1
    )
    while process.poll() is None and not list(tmp_path.iterdir()):
        time.sleep(0.002)
    assert interrupted(process, getattr(signal, name)) == b""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("whole", [False, True], ids=["reading", "learning"])
def test_ctrl_c_while_learning_leaves_nothing(long, tmp_path, whole):
    kept = tmp_path / "temporary"
    kept.mkdir()
    process = subprocess.Popen(
        [*COMMAND, "fit", "-", "-t", "progress", "-o", "m.safetensors"],
        cwd=tmp_path,
        env={**ENVIRONMENT, "TMPDIR": str(kept)},
        stdin=-1,
        stdout=-1,
        stderr=-1,
    )
    # More than a pipe holds: once it is written, the command is at work.
    process.stdin.write(long.read_bytes())
    if whole:
        process.stdin.close()
        process.stdin = None
        time.sleep(0.3)
    assert list(kept.iterdir())
    interrupted(process)
    assert list(tmp_path.iterdir()) == [kept]
    assert list(kept.iterdir()) == []
