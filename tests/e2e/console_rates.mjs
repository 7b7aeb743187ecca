// The console's reckoning, without a browser. Run by test_console.py.
import assert from 'node:assert/strict';

const {Rates, quantile} = await import(process.argv[2]);

const member = (id, at, changed, lag, age = 0) => ({
  id, heartbeat_at: new Date(at).toISOString(), heartbeat_age_ms: age,
  counters: {checks: {changed, failed: 0}, deliveries: {delivered: changed}, lag: {le_s: [1, 10], counts: lag}}});
const overview = (at, ...members) => ({at: new Date(at).toISOString(), members});

// Rates are over the time between heartbeats, not between looks, and summed over the members.
const rates = new Rates();
assert.equal(rates.add(overview(0, member('a', 0, 100, [0, 0, 0]))), null);
assert.equal(rates.add(overview(3000, member('a', 0, 100, [0, 0, 0]))), null, 'no newer heartbeat');
let now = rates.add(overview(6000, member('a', 5000, 150, [10, 0, 0]), member('b', 4000, 7, [0, 0, 0])));
assert.deepEqual(now.checks, {changed: 10, failed: 0}, 'b was heard of once');
assert.equal(now.lag.p50, 0.5);
now = rates.add(overview(9000, member('a', 5000, 150, [10, 0, 0]), member('b', 9000, 17, [0, 10, 0])));
assert.deepEqual(now.checks, {changed: 12, failed: 0});
assert.equal(now.lag.p99, quantile(0.99, [1, 10], [10, 10, 0]));
// One not heard of for long does nothing; one that is gone neither; one that began anew has another id.
now = rates.add(overview(30000, member('a', 5000, 150, [10, 0, 0], 25000), member('b', 29000, 17, [0, 10, 0])));
assert.deepEqual(now.checks, {changed: 0, failed: 0});
assert.equal(now.lag.p50, null, 'nothing started');
now = rates.add(overview(33000, member('b', 32000, 20, [0, 10, 3]), member('c', 32000, 1, [0, 0, 0])));
assert.deepEqual(now.checks, {changed: 1, failed: 0});
assert.equal(now.lag.p99, 10, 'beyond every bound is the last bound');
// A member of a version before counts nothing.
const old = {id: 'o', heartbeat_at: new Date(40000).toISOString(), heartbeat_age_ms: 0, counters: {}};
rates.add(overview(40000, old));
assert.equal(rates.add(overview(45000, {...old, heartbeat_at: new Date(45000).toISOString()})), null);
// Members of two versions with different bounds: each count stays under its own bound.
const finer = (at, lag) => ({...member('f', at, 0, lag),
  counters: {checks: {}, deliveries: {}, lag: {le_s: [0.1, 1, 10], counts: lag}}});
const mixed = new Rates();
mixed.add(overview(50000, member('m', 50000, 0, [0, 0, 0]), finer(50000, [0, 0, 0, 0])));
now = mixed.add(overview(55000, member('m', 55000, 0, [0, 4, 0]), finer(55000, [4, 0, 0, 0])));
assert.equal(now.lag.p50, 0.1);
assert.equal(now.lag.p99, quantile(0.99, [0.1, 1, 10], [4, 0, 4, 0]));

// A member whose counters tell of the heartbeat before gives rates at the first look, unless it is not heard of.
const telling = (at, age) => {
  const now = member('t', at, 50, [5, 0, 0], age);
  const {counters: before} = member('t', at - 5000, 40, [1, 0, 0]);
  return {...now, counters: {...now.counters, before, before_at: new Date(at - 5000).toISOString()}};
};
now = new Rates().add(overview(61000, telling(60000, 0)));
assert.deepEqual([now.checks, now.since, now.lag.p50], [{changed: 2, failed: 0}, 55000, 0.5]);
assert.equal(new Rates().add(overview(90000, telling(60000, 30000))), null);

assert.equal(quantile(0.5, [1, 2, 4], [0, 4, 0, 0]), 1.5);
assert.equal(quantile(0.5, [1], [0, 0]), null);
