"""Histograms of /metrics, read as Prometheus reads them."""


def histogram(metrics, name):
    """Cumulative counts by upper bound."""
    found = {}
    for line in metrics.splitlines():
        if line.startswith(name + '_bucket{le="'):
            bound, count = line.split('"')[1], float(line.rsplit(" ", 1)[1])
            found[float(bound.replace("+Inf", "inf"))] = count
    return found


def quantile(cumulative, q):
    """The same as Prometheus' histogram_quantile: linear inside the bucket."""
    bounds = sorted(cumulative)
    wanted, below, lower = q * cumulative[bounds[-1]], 0.0, 0.0
    for bound in bounds:
        if cumulative[bound] >= wanted:
            if bound == float("inf"):
                return lower
            return lower + (bound - lower) * (wanted - below) / max(cumulative[bound] - below, 1e-9)
        below, lower = cumulative[bound], bound
    return lower
