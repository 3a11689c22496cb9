/** Counters and histograms in the text format of Prometheus, as much of it as this service needs. */

export interface Metrics {
  /** One answered request. `route` is the route's template, never the path, so that the number of series is bounded. */
  observeRequest(labels: { route: string; method: string; status: number }, seconds: number): void;
  /** Something that is read at the time of the scrape. */
  gauge(name: string, help: string, read: () => number): void;
  render(): string;
}

const bucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

interface Series {
  readonly labels: string;
  readonly statusLabels: Map<number, number>;
  readonly buckets: number[];
  count: number;
  sum: number;
}

export function createMetrics(): Metrics {
  const series = new Map<string, Series>();
  const gauges: { name: string; help: string; read: () => number }[] = [];
  return {
    observeRequest: ({ route, method, status }, seconds) => {
      const labels = `route="${route}",method="${method}"`;
      let entry = series.get(labels);
      if (entry === undefined) {
        entry = { labels, statusLabels: new Map(), buckets: bucketsSeconds.map(() => 0), count: 0, sum: 0 };
        series.set(labels, entry);
      }
      entry.count++;
      entry.sum += seconds;
      entry.statusLabels.set(status, (entry.statusLabels.get(status) ?? 0) + 1);
      const bucket = bucketsSeconds.findIndex((limit) => seconds <= limit);
      if (bucket >= 0) entry.buckets[bucket] = (entry.buckets[bucket] ?? 0) + 1;
    },
    gauge: (name, help, read) => {
      gauges.push({ name, help, read });
    },
    render: () => [...renderRequests([...series.values()]), ...gauges.flatMap(renderGauge), ""].join("\n"),
  };
}

function renderRequests(series: readonly Series[]): string[] {
  const requests = "static_api_requests_total";
  const duration = "static_api_request_duration_seconds";
  return [
    `# HELP ${requests} Answered requests.`,
    `# TYPE ${requests} counter`,
    ...series.flatMap(({ labels, statusLabels }) =>
      Array.from(statusLabels, ([status, count]) => `${requests}{${labels},status="${status}"} ${count}`)
    ),
    `# HELP ${duration} From the request's head to the answer's head.`,
    `# TYPE ${duration} histogram`,
    ...series.flatMap(({ labels, buckets, count, sum }) => {
      let below = 0;
      return [
        ...bucketsSeconds.map((limit, index) => {
          below += buckets[index] ?? 0;
          return `${duration}_bucket{${labels},le="${limit}"} ${below}`;
        }),
        `${duration}_bucket{${labels},le="+Inf"} ${count}`,
        `${duration}_sum{${labels}} ${sum}`,
        `${duration}_count{${labels}} ${count}`,
      ];
    }),
  ];
}

function renderGauge({ name, help, read }: { name: string; help: string; read: () => number }): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${read()}`];
}
