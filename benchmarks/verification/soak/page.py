"""The soak's page: what was done, under which circumstances, and every disagreement with its seed."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure import machine
from benchmarks.result_files import write_page
from benchmarks.verification.soak.tally import Tally

__all__ = ["write"]


def write(tally: Tally, folder: Path, *, command: str) -> Path:
    """Write ``soak.md`` into a folder, which is made."""
    return write_page(folder, "soak", _page(tally, command))


def _page(tally: Tally, command: str) -> str:
    found = len(tally.disagreements)
    verdict = "**No answer differed.**" if not found else f"**{found} disagreements.**"
    counts = (
        ("minutes", f"{tally.seconds / 60:.1f}"),
        ("rounds, each a binding set", f"{tally.rounds:,}"),
        ("bindings", f"{tally.bindings:,}"),
        ("keys matched in batches, each answer compared", f"{tally.keys:,}"),
        ("pairs of key and binding in them", f"{tally.pairs:,}"),
        ("keys matched one at a time, in three ways", f"{tally.single_keys:,}"),
        (
            "pairs of pattern and key on which the specification judged the reference trie",
            f"{tally.by_specification:,}",
        ),
        ("caches cleared", f"{tally.clears:,}"),
        ("keys that fell back to simulation", f"{tally.fallbacks:,}"),
        ("calls broken off by a signal", f"{tally.interrupts:,}"),
        ("child processes asked, forked while threads were asking", f"{tally.forks:,}"),
        ("damaged files, each refused", f"{tally.refused_files:,}"),
        *_memory(tally),
        ("disagreements", str(found)),
    )
    parts = [
        "# The soak",
        (
            f"Written by `{command}` on {machine()}. {verdict} Each round draws a binding set, keys, and a bound on the "
            "cache from nothing to 128 MiB, and asks several times: keys in any order and form, on one to four threads, by "
            "several callers at once, before and after pickling, saving and loading, and while it is disturbed: by signals whose handlers "
            "raise, by forks, by damage to its file and by another file in its place. The reference trie, which shares "
            "no code with the engine, says what is right for every key; the recursive specification judges the trie. "
            "A round that does not end, and memory that grows from round to round, count as disagreements."
        ),
        "\n".join(["| | |", "|---|---:|", *(f"| {name} | {value} |" for name, value in counts)]),
        (
            f"Rounds have the seeds {tally.first_seed} to {tally.first_seed + max(0, tally.rounds - 1)}; "
            "`python -m benchmarks soak --seed N --rounds 1` repeats one."
        ),
        "## Circumstances",
        "\n".join(
            [
                "| circumstance | times |",
                "|---|---:|",
                *(f"| {name} | {count:,} |" for name, count in sorted(tally.circumstances.items())),
            ]
        ),
    ]
    if tally.disagreements:
        parts += ["## Disagreements", "\n".join(f"* {one}" for one in tally.disagreements)]
    return "\n\n".join(parts) + "\n"


def _memory(tally: Tally) -> list[tuple[str, str]]:
    """Return the rows about memory, where the system tells it."""
    if not tally.memory:
        return []
    before, after = tally.least()
    least = "at least, in the second and in the last third of the rounds"
    return [
        ("MiB in memory after a round, at most", f"{max(held.resident for held in tally.memory) >> 20:,}"),
        (f"the same, {least}", f"{before.resident >> 20:,} and {after.resident >> 20:,}"),
        (
            f"MiB of these that allocators have handed out, {least}",
            f"{before.native / 2**20:.1f} and {after.native / 2**20:.1f}",
        ),
        (f"Python's objects, {least}", f"{before.objects:,} and {after.objects:,}"),
    ]
