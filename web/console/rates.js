// What the fleet does now, from successive overviews: every member's counters are counted since its start and
// renewed with its heartbeat, so a rate is what was added between two heartbeats over the time between them.

const STALE_MS = 15000;  // a member not heard of for this long does nothing

function added(now, before) {
  return Object.fromEntries(Object.entries(now ?? {}).map(([key, n]) => [key, Math.max(0, n - (before?.[key] ?? 0))]));
}

function scaled(counts, seconds) {
  return Object.fromEntries(Object.entries(counts).map(([key, n]) => [key, n / seconds]));
}

function addUp(parts) {
  const sum = {};
  for (const part of parts) for (const [key, n] of Object.entries(part)) sum[key] = (sum[key] ?? 0) + n;
  return sum;
}

// The value below which the share `p` of a histogram lies, as Prometheus computes it; null without any.
export function quantile(p, bounds, counts) {
  const total = counts.reduce((sum, n) => sum + n, 0);
  if (total === 0) return null;
  let below = 0;
  for (let i = 0; i < bounds.length; ++i) {
    if (below + counts[i] >= p * total) {
      const from = i === 0 ? 0 : bounds[i - 1];
      return from + (bounds[i] - from) * (counts[i] === 0 ? 0 : (p * total - below) / counts[i]);
    }
    below += counts[i];
  }
  return bounds.at(-1);
}

// What a member had counted at the heartbeat before its last, which its counters tell of: with it the first look gives
// rates. At its first heartbeat a member has none to tell of.
function heartbeatBefore(member) {
  const {before, before_at: at} = member.counters;
  return before?.checks && at ? {at: Date.parse(at), counters: before, rate: null} : undefined;
}

export class Rates {
  #members = new Map();  // id -> the last heartbeat and what it added

  // Takes an overview; returns {since, at, checks: {outcome: a second}, deliveries, lag: {p50, p99}}, where `since` is
  // that of the heartbeats that were compared with; null while there is no earlier heartbeat to compare with.
  add(overview) {
    const seen = new Map();
    for (const member of overview.members) {
      const at = Date.parse(member.heartbeat_at);
      const last = this.#members.get(member.id) ?? heartbeatBefore(member);
      if (last && at <= last.at) {
        seen.set(member.id, member.heartbeat_age_ms > STALE_MS ? {...last, rate: null} : last);
        continue;
      }
      const {checks, deliveries, lag} = member.counters;
      const seconds = last ? (at - last.at) / 1000 : 0;
      const stale = member.heartbeat_age_ms > STALE_MS;
      seen.set(member.id, {at, counters: member.counters, rate: last && checks && !stale ? {
        since: last.at,
        checks: scaled(added(checks, last.counters.checks), seconds),
        deliveries: scaled(added(deliveries, last.counters.deliveries), seconds),
        bounds: lag.le_s,
        lag: Object.values(added(lag.counts, last.counters.lag?.counts)),
      } : last && !stale ? last.rate : null});
    }
    this.#members = seen;
    const rates = [...seen.values()].map(m => m.rate).filter(rate => rate !== null);
    if (rates.length === 0) return null;
    // During an upgrade members may have different bounds: what a member counted stays under its own.
    const bounds = [...new Set(rates.flatMap(rate => rate.bounds))].sort((a, b) => a - b);
    const counts = bounds.concat(Infinity).map(bound => rates.reduce(
      (sum, rate) => sum + (rate.lag[bound === Infinity ? rate.bounds.length : rate.bounds.indexOf(bound)] ?? 0), 0));
    return {
      since: Math.min(...rates.map(rate => rate.since)),
      at: Date.parse(overview.at),
      checks: addUp(rates.map(rate => rate.checks)),
      deliveries: addUp(rates.map(rate => rate.deliveries)),
      lag: {p50: quantile(0.5, bounds, counts), p99: quantile(0.99, bounds, counts)},
    };
  }
}
