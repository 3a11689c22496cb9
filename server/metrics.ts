/** The text format of Prometheus, version 0.0.4. Each process has its own list of metrics. */

export interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** Undefined: this machine does not tell, and the metric is left out. */
  readonly value: number | undefined | readonly Sample[];
}

/** One line of a metric that has several. */
export interface Sample {
  /** After the metric's name: `_bucket`, `_sum` or `_count` of a histogram. */
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

export function renderMetrics(metrics: readonly Metric[]): string {
  return metrics.filter(({ value }) => value !== undefined).map(renderMetric).join("");
}

function renderMetric({ name, type, help, value }: Metric): string {
  const lines = typeof value === "object"
    ? value.map((sample) => renderSample(name, sample))
    : [`${name} ${value}`];
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
}

function renderSample(name: string, { suffix = "", labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
  return `${name}${suffix}{${pairs.join(",")}} ${value}`;
}
