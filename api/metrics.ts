/** Metrics of the API for Prometheus; `docs/operations.md` lists the same names. */
import { type Metric, renderMetrics, type Sample } from "../server/mod.ts";

export interface Metrics {
  /**
   * One request that was answered. `route` is the route's template, never the path, so that the
   * number of series is bounded. Without a time it is only counted.
   */
  observeRequest(
    labels: { route: string; method: string; status: number },
    seconds: number | undefined,
  ): void;
  /** Something that is read at the time of the scrape. */
  gauge(name: string, help: string, read: () => number): void;
  /** The same for what only grows. */
  counter(name: string, help: string, read: () => number): void;
  render(): string;
}

const bucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

interface Series {
  readonly labels: { readonly route: string; readonly method: string };
  readonly statuses: Map<number, number>;
  readonly buckets: number[];
  count: number;
  sum: number;
}

export function createMetrics(): Metrics {
  const series = new Map<string, Series>();
  const readings: (() => Metric)[] = [];
  return {
    observeRequest: ({ route, method, status }, seconds) => {
      const id = `${method} ${route}`;
      let entry = series.get(id);
      if (entry === undefined) {
        entry = {
          labels: { route, method },
          statuses: new Map(),
          buckets: bucketsSeconds.map(() => 0),
          count: 0,
          sum: 0,
        };
        series.set(id, entry);
      }
      entry.statuses.set(status, (entry.statuses.get(status) ?? 0) + 1);
      if (seconds === undefined) return;
      entry.count++;
      entry.sum += seconds;
      const bucket = bucketsSeconds.findIndex((limit) => seconds <= limit);
      if (bucket >= 0) entry.buckets[bucket] = (entry.buckets[bucket] ?? 0) + 1;
    },
    gauge: (name, help, read) => {
      readings.push(() => ({ name, type: "gauge", help, value: read() }));
    },
    counter: (name, help, read) => {
      readings.push(() => ({ name, type: "counter", help, value: read() }));
    },
    render: () =>
      renderMetrics([...requestMetrics([...series.values()]), ...readings.map((read) => read())]),
  };
}

function requestMetrics(series: readonly Series[]): Metric[] {
  return [
    {
      name: "static_api_requests_total",
      type: "counter",
      help: "Answered requests.",
      value: series.flatMap(({ labels, statuses }) =>
        Array.from(statuses, ([status, value]) => ({ labels: { ...labels, status }, value }))
      ),
    },
    {
      name: "static_api_request_duration_seconds",
      type: "histogram",
      help: "From the request's head to the answer's head.",
      value: series.filter(({ count }) => count > 0).flatMap(durationSamples),
    },
  ];
}

/** Each bucket counts what is below its limit, the smaller ones included. */
function durationSamples({ labels, buckets, count, sum }: Series): Sample[] {
  let below = 0;
  const limited = bucketsSeconds.map((limit, index) => {
    below += buckets[index] ?? 0;
    return { suffix: "_bucket", labels: { ...labels, le: limit }, value: below };
  });
  return [
    ...limited,
    { suffix: "_bucket", labels: { ...labels, le: "+Inf" }, value: count },
    { suffix: "_sum", labels, value: sum },
    { suffix: "_count", labels, value: count },
  ];
}
