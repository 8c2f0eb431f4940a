// What was told in the last minutes, and what follows from it: rates are what totals grew by between two heartbeats.

export const SPAN = 5 * 60_000;
/** How long a worker is shown that Redis does not know any more. */
const REMEMBERED = 60_000;

const TOTALS = ["signals", "published", "delivered", "cpu_ms"];

/** One and the same process, under whatever incarnation. */
const processOf = (worker) => `${worker.host} ${worker.pid} ${worker.started_at}`;

export class History {
  /** By the clock of this page, each with a figure for every chart; without one where nothing was answered. */
  points = [];
  /** All workers of the last answer with their `rates`, and those `gone` since a little while, with when. */
  workers = [];
  #rates = new Map();

  add(live, now) {
    const processes = new Map(live.workers.map((worker) => [processOf(worker), this.#rated(worker)]));
    this.#rates = processes;
    const told = live.workers.map((worker) => ({ ...worker, rates: processes.get(processOf(worker)).rates }));
    this.workers = [...told, ...this.#gone(told, now)];
    this.#push({ at: now, ...sums(told.filter((worker) => worker.alive)), ...latencies(live.redis) });
  }

  /** Nothing was answered. */
  miss(now) {
    this.#push({ at: now });
  }

  #push(point) {
    this.points.push(point);
    while (this.points[0].at < point.at - SPAN - 5000) this.points.shift();
  }

  /** Between two heartbeats a worker says the same, and its rates stay. */
  #rated(worker) {
    const before = this.#rates.get(processOf(worker));
    if (!worker.alive) return { worker, rates: {} };
    if (!before) return { worker, rates: {} };
    const time = worker.beat - before.worker.beat;
    if (!(time > 0)) return { worker: before.worker, rates: before.rates };
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

function sums(workers) {
  const sum = (values) => {
    const known = values.filter((value) => value !== undefined);
    return known.length ? known.reduce((total, value) => total + value, 0) : undefined;
  };
  return {
    sessions: sum(workers.map((worker) => worker.sessions)),
    signals: sum(workers.map((worker) => worker.rates.signals)),
    published: sum(workers.map((worker) => worker.rates.published)),
    delivered: sum(workers.map((worker) => worker.rates.delivered)),
  };
}

function latencies({ p50_us: median, p99_us: slow }) {
  return { p50: median === undefined ? undefined : median / 1000, p99: slow === undefined ? undefined : slow / 1000 };
}
