"""What a benchmark makes of what it has measured: medians, costs, tables, and how many times another's figure ours is."""

import statistics
import sys

CPU = ("postgres_us", "process_us")


def say(text):
    print(text, file=sys.stderr, flush=True)


def summary(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def summaries(rounds):
    return {key: summary([one[key] for one in rounds]) for key in rounds[0]}


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def cost(used, n):
    """What a meter saw of n rows, lookups or runs."""
    return {"per_s": n / used["at"], "postgres_us": used["postgres_cpu"] / n * 1e6,
            "process_us": used["process_cpu"] / n * 1e6, "wal_bytes": used["wal"] / n, "transactions": used["xacts"] / n}


def table(title, columns, rows):
    print(f"\n{title}")
    widths = [max(len(str(r[i])) for r in [columns] + rows) for i in range(len(columns))]
    for r in [columns] + rows:
        print("  " + "  ".join(str(v).ljust(w) if i == 0 else str(v).rjust(w) for i, (v, w) in enumerate(zip(r, widths))))


COST_COLUMNS = ["", "a second", "spread", "PostgreSQL us", "process us", "WAL B", "transactions"]


def cost_row(name, f):
    return [name, f"{f['per_s']['median']:,.0f}", f"{f['per_s']['min']:,.0f} to {f['per_s']['max']:,.0f}",
            f"{f['postgres_us']['median']:,.1f}", f"{f['process_us']['median']:,.1f}", f"{f['wal_bytes']['median']:,.0f}",
            f"{f['transactions']['median']:.4f}"]


def cpu_us(f, parts=CPU):
    return sum(f[part]["median"] for part in parts)


def over(ours, theirs):
    return ours / theirs if theirs else float("inf")


def verdict(measured, target):
    """`target` is (">=" or "<=", bound); None is a figure that is told and has no target."""
    if target is None:
        return ""
    how, bound = target
    return "yes" if (measured >= bound if how == ">=" else measured <= bound) else "NO"


def ratio(line):
    """How many times the other's figure ours is, by rate and by CPU; of a line that stands for itself nothing."""
    if line["by_rate"] is None:
        return ""
    return f"{line['by_rate']:.2f} x, CPU {line['by_cpu']:.2f} x"


def told_cost(f):
    return f"{f['per_s']['median']:,.0f} a second, {cpu_us(f):,.1f} us"


class Targets:
    """The lines of a table of targets: what was measured beside what, how many times its figure ours is, and whether that
    is what was promised. `by_rate` and `by_cpu` are both better when they are larger: rows a second, and what the same
    CPU does."""

    COLUMNS = ["", "ours", "beside", "its", "ours over its", "target", "met"]

    def __init__(self):
        self.lines = []

    def against(self, name, ours, beside, theirs, target=None, cpu_target=None):
        """Both are summaries of `cost`. The first target is of the rate, the second of the CPU."""
        line = self._beside(name, ours, beside, theirs, target, "x")
        if cpu_target:
            told = f"CPU {cpu_target[0]} {cpu_target[1]:.2f} x"
            line["target"] = ", ".join(filter(None, (line["target"], told)))
            line["met"] = ", ".join(filter(None, (line["met"], verdict(line["by_cpu"], cpu_target))))

    def postgres_cpu(self, name, ours, beside, theirs, target):
        """A multiple of the CPU of PostgreSQL. Less is better here; the ratio of CPU tells it the other way round."""
        times = over(ours["postgres_us"]["median"], theirs["postgres_us"]["median"])
        line = self._beside(name, ours, beside, theirs, target, "x PostgreSQL's CPU", measured=times)
        line["by_cpu"] = over(1.0, times)

    def figure(self, name, measured, target, unit):
        """One that stands for itself."""
        digits = 2 if unit == "x" else 1
        self._add(name=name, ours=f"{measured:,.{digits}f} {unit}".rstrip(), beside="", its="", by_rate=None, by_cpu=None,
                  measured=measured, target=target, unit=unit)

    def _beside(self, name, ours, beside, theirs, target, unit, measured=None):
        by_rate = over(ours["per_s"]["median"], theirs["per_s"]["median"])
        return self._add(name=name, ours=told_cost(ours), beside=beside, its=told_cost(theirs), by_rate=by_rate,
                         by_cpu=over(cpu_us(theirs), cpu_us(ours)), measured=measured, target=target, unit=unit)

    def _add(self, target, unit, **line):
        compared = line["by_rate"] if line["measured"] is None else line["measured"]
        told = f"{target[0]} {target[1]:g} {unit}".rstrip() if target else ""
        self.lines.append(line | {"target": told, "met": verdict(compared, target)})
        return self.lines[-1]

    @staticmethod
    def row(line):
        return [line["name"], line["ours"], line["beside"], line["its"], ratio(line), line["target"], line["met"]]

    def print(self, title="Targets (ours over its: larger is better)"):
        if self.lines:
            table(title, self.COLUMNS, [self.row(line) for line in self.lines])


def parts_of(parser, text, known):
    """What --only names. Ends the program where there is no such part."""
    wanted = text.split(",")
    unknown = set(wanted) - set(known)
    if unknown:
        parser.error(f"--only: {', '.join(sorted(unknown))}: there is {', '.join(known)}")
    return wanted
