"""One command in a folder of its own, with a fault, and the judgement of what became of it."""

import hashlib
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.faults.cases import Case
from benchmarks.faults.processes import Ended, Server
from benchmarks.faults.shim import Fault

OLD = b"what stood here before\n"
"""The content of every output before a command begins."""


@dataclass(frozen=True)
class Judged:
    """What became of a fault, and why if that is not as promised."""

    outcome: str
    why: str = ""


@dataclass
class Trials:
    """Runs commands on copies of `material`; knows what each writes when nothing happens to it."""

    server: Server
    material: Path
    folder: Path
    _right: dict[str, tuple[dict[str, bytes], Ended]] = field(default_factory=dict)
    _calls: dict[str, int] = field(default_factory=dict)

    def prepare(self, case: Case) -> None:
        """Make a new folder with copies of the inputs, and old outputs."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for name in case.inputs:
            source = self.material / name
            copied = shutil.copytree if source.is_dir() else shutil.copy
            copied(source, self.folder / name)
        for name in case.outputs:
            (self.folder / name).write_bytes(OLD)

    def right(self, case: Case) -> tuple[dict[str, bytes], Ended]:
        """Return what a command writes by itself, and how it ends."""
        if case.name not in self._right:
            for _ in range(2):  # the first one makes caches, such as that of fonts
                self.prepare(case)
                ended = self.run(case)
                if ended.status != 0:
                    raise RuntimeError(f"{case.name} does not run at all: {ended.complained}")
            self._right[case.name] = self.outputs(case), ended
        return self._right[case.name]

    def calls(self, case: Case) -> int:
        """Return how often a command writes, renames, syncs or opens a file."""
        if case.name not in self._calls:
            self.right(case)
            self.prepare(case)
            self._calls[case.name] = self.run(case, fault=Fault(str(self.folder))).calls
        return self._calls[case.name]

    def run(self, case: Case, **how: Any) -> Ended:
        """Run the command as it stands in its folder."""
        return self.server.run(case.arguments, self.folder, **how)

    def outputs(self, case: Case) -> dict[str, bytes]:
        """Return what is at the places of the outputs."""
        paths = [self.folder / name for name in case.outputs]
        return {path.name: path.read_bytes() for path in paths if path.exists()}

    def judge(
        self, case: Case, ended: Ended, *, killed: bool, by_kill: bool = False, again: bool = True
    ) -> Judged:
        """Tell what became of a fault: from the files, the words, and another run if `again`.

        A command that was `killed` may have ended before. One that could not even hear of it
        (`by_kill`) may leave hidden files, and where it has several outputs some new and some old
        ones beside them; the next run does not mind.
        """
        first = self._seen(case, ended, killed=killed, by_kill=by_kill)
        if not again or first.outcome not in {"right", "refused"}:
            return first
        again = self.run(case)
        if again.status != 0 or self.outputs(case) != self.right(case)[0]:
            return Judged("wrong", f"the next run: {again.status} {again.complained[:200]}")
        return first

    def _seen(self, case: Case, ended: Ended, *, killed: bool, by_kill: bool) -> Judged:
        if ended.status is None:
            return Judged("hung", f"after {ended.seconds:.0f} s")
        if ended.has_traceback or (ended.status < 0 and not killed):
            return Judged("crashed", f"{ended.status}: {ended.complained[-300:]}")
        kinds = self._kinds(case)
        if "torn" in kinds.values() or not self._inputs_stand(case):
            return Judged("lost", str(kinds))
        if len(set(kinds.values())) > 1 and not (by_kill and self._hidden()):
            return Judged("wrong", f"old beside new: {kinds}")
        left = self._left(case, by_kill=by_kill)
        if left:
            return Judged("wrong", f"left behind: {', '.join(left)}")
        return _by_status(ended, set(kinds.values()), killed=killed)

    def _kinds(self, case: Case) -> dict[str, str]:
        """Tell of every output whether it is old, new, or neither."""
        right, found = self.right(case)[0], self.outputs(case)
        kinds = {}
        for name in case.outputs:
            content = found.get(name)
            kinds[name] = "old" if content == OLD else "new" if content == right[name] else "torn"
        return kinds

    def _inputs_stand(self, case: Case) -> bool:
        return all(
            digest(self.folder / name) == digest(self.material / name) for name in case.inputs
        )

    def _left(self, case: Case, *, by_kill: bool) -> list[str]:
        """Return what lies there that nobody was told of."""
        known = {*case.inputs, *case.outputs} | ({case.checkpoint} if case.checkpoint else set())
        found = [path.name for path in self.folder.iterdir() if path.name not in known]
        return [name for name in found if not (by_kill and name in self._hidden())]

    def _hidden(self) -> list[str]:
        """Return the files that tell of a command which nobody let end."""
        names = [path.name for path in self.folder.glob(".*")]
        return [name for name in names if name.endswith((".partial", ".replaced"))]


def _by_status(ended: Ended, kinds: set[str], *, killed: bool) -> Judged:
    """Judge a command whose files are in order by its status and its words."""
    if killed:
        return Judged("right")
    if ended.status == 0:
        return Judged("wrong", "status 0, but old outputs") if "old" in kinds else Judged("right")
    if not ended.is_one_sentence:
        return Judged("wrong", f"not one sentence: {ended.complained[:300]}")
    return Judged("wrong", "refused, but new outputs") if "new" in kinds else Judged("refused")


def digest(path: Path) -> str:
    """Return a checksum of a file, or of all files in a folder with their names."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    summed = hashlib.sha256()
    for file in files:
        if file.is_file():
            summed.update(str(file.relative_to(path)).encode() + b"\0" + file.read_bytes())
    return summed.hexdigest()
