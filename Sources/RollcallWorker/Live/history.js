// The answers of the last minutes, and the rates computed from them: the growth of totals between two heartbeats.

export const SPAN = 5 * 60_000;
/** How long a worker stays visible after Redis has deleted it, in milliseconds. */
const REMEMBERED = 60_000;

const TOTALS = ["signals", "published", "delivered", "cpu_ms"];

/** Identifies a process, independent of its incarnation. */
const processOf = (worker) => `${worker.host} ${worker.pid} ${worker.started_at}`;

export class History {
  /** Points by this page's clock, each with the figures of all charts, or without figures if there was no answer. */
  points = [];
  /** All workers of the last answer with their `rates`, and recently deleted ones with the time in `gone`. */
  workers = [];
  /** The time of the last answer, by Redis. */
  time;
  #counted = new Map();

  add(live, now) {
    const living = latest(live.workers.filter((worker) => worker.alive));
    const counted = new Map([...living].map(([process, worker]) => [process, this.#rated(process, worker)]));
    const ratesOf = (worker) => (living.get(processOf(worker)) === worker ? counted.get(processOf(worker)).rates : {});
    const told = live.workers.map((worker) => ({ ...worker, rates: ratesOf(worker) }));
    this.#counted = counted;
    this.workers = [...told, ...this.#gone(told, now)];
    this.time = live.time;
    this.#push({ at: now, ...sums([...counted.values()], [...living.values()]), ...latencies(live.redis) });
  }

  /** Records that there was no answer. */
  miss(now) {
    this.#push({ at: now });
  }

  #push(point) {
    this.points.push(point);
    while (this.points[0].at < point.at - SPAN - 5000) this.points.shift();
  }

  /**
   * Between two heartbeats, totals and rates do not change. If Redis's clock was set back, the rates start again.
   */
  #rated(process, worker) {
    const before = this.#counted.get(process);
    const time = before ? worker.beat - before.worker.beat : 0;
    if (before && time === 0) return before;
    if (!(time > 0)) return { worker, rates: {} };
    const grown = TOTALS.map((total) => [total, ((worker[total] - before.worker[total]) * 1000) / time]);
    return { worker, rates: Object.fromEntries(grown.filter(([, rate]) => rate >= 0)) };
  }

  #gone(told, now) {
    const names = new Set(told.map((worker) => worker.incarnation));
    const processes = new Set(told.filter((worker) => worker.alive).map(processOf));
    return this.workers
      .filter((worker) => !names.has(worker.incarnation) && !processes.has(processOf(worker)))
      .map((worker) => ({ ...worker, rates: {}, gone: worker.gone ?? now, alive: false }))
      .filter((worker) => now - worker.gone < REMEMBERED);
  }
}

/** Lists each process once. After a new incarnation, the lease of the previous one may still be held. */
function latest(workers) {
  const found = new Map();
  for (const worker of workers) {
    const other = found.get(processOf(worker));
    if (!other || worker.beat > other.beat) found.set(processOf(worker), worker);
  }
  return found;
}

function sums(counted, workers) {
  const sum = (values) => {
    const known = values.filter((value) => value !== undefined);
    return known.length ? known.reduce((total, value) => total + value, 0) : undefined;
  };
  return {
    sessions: sum(workers.map((worker) => worker.sessions)),
    signals: sum(counted.map(({ rates }) => rates.signals)),
    published: sum(counted.map(({ rates }) => rates.published)),
    delivered: sum(counted.map(({ rates }) => rates.delivered)),
  };
}

function latencies({ p50_us: median, p99_us: slow }) {
  return { p50: median === undefined ? undefined : median / 1000, p99: slow === undefined ? undefined : slow / 1000 };
}
