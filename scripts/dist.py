"""Builds the sdist and the wheel of a commit twice, in different surroundings, and keeps them if they are equal.

    python scripts/dist.py                # of HEAD, into dist/ (`make dist`)
    python scripts/dist.py --out DIR

What is built is the commit and not the working tree, so a file that was never committed is in no release. The second build has
another folder, another time zone, another seed for hashes, and files that only their owner may read; the wheel is built
once more from the unpacked sdist. Dates in the archives are the commit's. hatchling, which builds, is asked for in the
environment of this script, so that its version is the one of ``requirements-dev.lock``.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
WHEEL_FOLDERS = {"compiler", "dfa_router", "viz"}
NOT_IN_SDIST = (".ci/",)
"""Tracked, but of no use without the repository. Tests and benchmarks are in the sdist, so that whoever packages it can
run them."""

Member = tuple[object, ...]


class DistError(Exception):
    """What is wrong with the archives."""


def git(folder: Path, *arguments: str) -> str:
    """Return what a git command prints."""
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def members(path: Path) -> dict[str, Member]:
    """Return what an archive says of each member besides its name: order, date, mode, owner and a digest of its bytes."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {
                one.filename: (place, one.date_time, oct(one.external_attr >> 16), digest(wheel.read(one)))
                for place, one in enumerate(wheel.infolist())
            }
    with tarfile.open(path) as sdist:
        found: dict[str, Member] = {}
        for place, item in enumerate(sdist.getmembers()):
            data = sdist.extractfile(item)
            owner = (item.uid, item.gid, item.uname, item.gname)
            found[item.name] = (place, item.mtime, oct(item.mode), owner, digest(data.read() if data else b""))
        return found


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def differences(one: Path, other: Path) -> list[str]:
    """Return how two archives differ, a line for each member that does; none if they are the same bytes."""
    if one.read_bytes() == other.read_bytes():
        return []
    left, right = members(one), members(other)
    lines = [f"only in {one}: {name}" for name in sorted(left.keys() - right.keys())]
    lines += [f"only in {other}: {name}" for name in sorted(right.keys() - left.keys())]
    lines += [
        f"{name}: {left[name]} and {right[name]}"
        for name in sorted(left.keys() & right.keys())
        if left[name] != right[name]
    ]
    return lines or ["the members are equal, and what is around them differs: compression or headers"]


def build(source: Path, out: Path, when: str, surroundings: Mapping[str, str], kind: str = "") -> None:
    """Build a folder's sdist and wheel, or one of them, into another folder."""
    if subprocess.run([sys.executable, "-c", "import hatchling"], check=False, capture_output=True).returncode:
        raise DistError(f"hatchling is not installed for {sys.executable}: `make check` sets up .venv with it")
    out.mkdir()
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--directory",
        str(out),
        *([f"--target={kind}"] if kind else []),
    ]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": when, **surroundings}
    done = subprocess.run(command, cwd=source, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        raise DistError(f"hatchling could not build {source}:\n{done.stdout}{done.stderr}")


def build_twice(repository: Path, work: Path) -> list[Path]:
    """Build HEAD in different surroundings and return the archives; raises :class:`DistError` if a byte differs."""
    when = git(repository, "log", "-1", "--format=%ct")
    sources = work / "one", work / "of-another-length" / "two"
    for source in sources:
        git(repository, "clone", "--quiet", "--no-hardlinks", str(repository), str(source))
    for path in sources[1].rglob("*"):
        if ".git" not in path.parts and not path.is_symlink():
            path.chmod(path.stat().st_mode & 0o700)
    build(sources[0], work / "first", when, {"TZ": "UTC", "PYTHONHASHSEED": "1"})
    build(sources[1], work / "second", when, {"TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "2", "LC_ALL": "C"})
    archives = sorted((work / "first").iterdir())
    (wheel,) = (path for path in archives if path.suffix == ".whl")
    (sdist,) = (path for path in archives if path.suffix != ".whl")
    with tarfile.open(sdist) as packed:
        packed.extractall(work / "unpacked", filter="data")
    build(work / "unpacked" / sdist.name.removesuffix(".tar.gz"), work / "third", when, {}, "wheel")
    lines = [line for path in archives for line in differences(path, work / "second" / path.name)]
    lines += differences(wheel, work / "third" / wheel.name)
    if lines:
        raise DistError("\n".join(["builds of one commit differ:", *lines]))
    return archives


def misplaced(archives: list[Path], repository: Path) -> Iterator[str]:
    """Yield what an archive lacks or should not have: the wheel the three packages, the sdist all that is tracked."""
    tracked = {name for name in git(repository, "ls-files").splitlines() if not name.startswith(NOT_IN_SDIST)}
    for path in archives:
        names = set(members(path))
        if path.suffix == ".whl":
            names = {name for name in names if ".dist-info/" not in name}
            expected = {name for name in tracked if name.split("/")[0] in WHEEL_FOLDERS}
        else:
            names = {name.partition("/")[2] for name in names}
            expected = tracked | {"PKG-INFO"}
        yield from (f"{path.name} lacks {name}" for name in sorted(expected - names))
        yield from (f"{path.name} has {name}, which does not belong there" for name in sorted(names - expected))


def main() -> int:
    """Build, compare and keep; return 1 with the differences on stderr."""
    parser = argparse.ArgumentParser(description="Build the sdist and the wheel of HEAD, twice, and compare.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the archives go [dist]")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout [this one]")
    options = parser.parse_args()
    root = options.root.resolve()
    if git(root, "status", "--porcelain"):
        print("dist: changes that are not committed are not in what is built", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        try:
            archives = build_twice(root, Path(folder))
            if wrong := list(misplaced(archives, root)):
                raise DistError("\n".join(wrong))
        except DistError as error:
            print(f"dist: {error}", file=sys.stderr)
            return 1
        options.out.mkdir(parents=True, exist_ok=True)
        for path in archives:
            shutil.copyfile(path, options.out / path.name)
            print(f"{digest(path.read_bytes())}  {options.out / path.name}")
    print("built twice in different surroundings, and the wheel from the sdist: equal to the byte")
    return 0


if __name__ == "__main__":
    sys.exit(main())
