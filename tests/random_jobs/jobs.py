"""A random job: its text, its configuration, its events, and how it is run."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from random_jobs.chain import Chain
from random_jobs.operators import BEFORE, BEHIND, OF_DAYS, ONCE, WINDOWS, Add, joined_with_others, put_together
from random_jobs.sample import DAYS, FILES, SCALES, Sample, Scale, sample, with_keys_again
from streamproof.core.randomness import Seeded


@dataclass(frozen=True)
class Others:
    """A second source, which the first is put together with; its files arrive with those of the first, as long as there are some."""

    events: Sample
    event_time: Mapping[str, str]


@dataclass(frozen=True)
class RandomJob:
    """What a seed has made.

    Parameters
    ----------
    text
        The job function.
    chains
        By main output the calls that lead to it.
    event_time
        The line of the configuration.
    formats
        By output the format of its files.
    files_per_batch
        None: all that is there.
    starts
        How many files are there at each start; the job is run to its end each time.
    lost
        Before which starts the newest commit is lost, so that the batch is done again.
    bounded
        Whether it is computed as a batch too.
    others
        The second source of a union; None without one.
    """

    seed: int
    text: str
    chains: Mapping[str, Chain]
    events: Sample
    event_time: str
    formats: Mapping[str, str]
    files_per_batch: int | None
    starts: tuple[int, ...]
    lost: frozenset[int]
    bounded: bool
    others: Others | None = None

    @property
    def samples(self) -> Mapping[str, Sample]:
        """By source its events."""
        return {"events": self.events, **({"others": self.others.events} if self.others is not None else {})}

    @property
    def described(self) -> str:
        """What people look at: the job, its event time and its starts."""
        lost = (
            f", the newest commit lost before start {', '.join(str(start + 1) for start in sorted(self.lost))}" if self.lost else ""
        )
        formats = ", ".join(f"{name} {kind}" for name, kind in self.formats.items())
        others = (
            f"\n# others: {dict(self.others.event_time)}, {len(self.others.events.files)} files" if self.others is not None else ""
        )
        return (
            f"{self.text}\n# {self.event_time}{others}\n# files_per_batch {self.files_per_batch}, files at each start {self.starts}{lost}; "
            f"formats {formats}{'; as a batch too' if self.bounded else ''}\n"
        )


def random_job(number: int) -> RandomJob:
    """The job of a seed, the same at each call."""
    seed = Seeded(number, "random jobs")
    scale = seed.choice(SCALES)
    checked = Chain(scale)
    union = Seeded(number, "union")
    several = union.chance(0.2)
    if several:
        put_together(union, checked)
    for _ in range(seed.below(4)):
        seed.choice(BEFORE)(seed, checked)
    chains = {name: _goes_on(seed, checked) for name in ("one", "two")[: 2 if seed.chance(0.25) else 1]}
    join = Seeded(number, "join")
    if joins := join.chance(0.12):
        checked, several = Chain(scale), True
        joined_with_others(join, checked)
        chains = {"one": replace(checked, calls=[])}
    lines = [f"    checked = events{''.join(checked.calls)}"]
    given = []
    for name, chain in chains.items():
        lines.append(f"    {name} = checked{''.join(chain.calls)}")
        lates = ("late_left", "late_right") if joins else ("late",)
        given += [f"{name}={name}", *(f"{name}_{late}={name}.{late}" for late in lates if chain.stateful)]
        given += [f"{name}_again={name}.duplicates"] if chain.copies else []
        given += [f"{name}_alone_{side}={name}.unmatched_{side}" for side in chain.alone]
    outputs = [*(part.partition("=")[0] for part in given), "rejected"]
    lines.append(f"    return sp.Outputs({', '.join(given)}, rejected=checked.rejected)")
    starts = _starts(seed)
    event_time = f'event_time = {{ column = "ts", unit = "milliseconds", lag = "{seed.choice(scale.lags)}" }}'
    formats = {name: seed.choice(("parquet", "json")) for name in outputs}
    files_per_batch = seed.choice((1, 1, 1, 2, None))
    bounded = Seeded(number, "bounded").chance(0.25)
    events = sample(Seeded(number, "events"), scale)
    others = _others(union, number, scale, events, stateful=any(chain.stateful for chain in chains.values())) if several else None
    # Of several events with one key in a batch it is not promised which stays.
    if files_per_batch == 1 and not bounded and not several:
        events = with_keys_again(Seeded(number, "keys again"), events)
    return RandomJob(
        seed=number,
        text=f"@sp.job\ndef small(events: sp.Stream{', others: sp.Stream' if several else ''}) -> sp.Outputs:\n"
        + "\n".join(lines)
        + "\n",
        chains=chains,
        events=events,
        event_time=event_time,
        formats=formats,
        files_per_batch=files_per_batch,
        starts=starts,
        lost=frozenset(start for start in range(1, len(starts)) if seed.chance(0.4)),
        bounded=bounded,
        others=others,
    )


def _others(seed: Seeded, number: int, scale: Scale, events: Sample, *, stateful: bool) -> Others:
    time = {"column": "ts", "unit": "milliseconds", "lag": seed.choice(scale.lags)}
    if seed.chance(0.5) and stateful:  # without state there is no watermark to hold
        time["idle_after"] = "0 seconds"
    return Others(sample(Seeded(number, "others"), scale, "o", seed.choice((1, 2, 3, FILES, FILES)), events), time)


def _goes_on(seed: Seeded, checked: Chain) -> Chain:
    """A chain to one output, after what all of them have in common."""
    chain = checked.copied()
    if seed.chance(0.2):
        seed.choice(BEFORE)(seed, chain)
    if seed.chance(0.4):
        seed.choice(ONCE)(seed, chain)
    if seed.chance(0.85) and not chain.ended:
        seed.choice(_windows(chain.scale))(seed, chain)
        if seed.chance(0.2):
            seed.choice(BEHIND)(seed, chain)
    return chain


def _windows(scale: Scale) -> tuple[Add, ...]:
    return WINDOWS if scale is DAYS else tuple(add for add in WINDOWS if add not in OF_DAYS)


def _starts(seed: Seeded) -> tuple[int, ...]:
    """One start with all files, or two or three with some more each."""
    cuts = sorted({1 + seed.below(FILES - 1) for _ in range(seed.choice((0, 1, 1, 2)))})
    return tuple(end - begin for begin, end in zip((0, *cuts), (*cuts, FILES), strict=True))
