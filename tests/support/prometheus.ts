/** A real Prometheus with the files that operators get. */
import { freePort } from "./mod.ts";

const deploy = new URL("../../deploy/", import.meta.url);

/** One series of an instant, with its value. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** One series of a range: times in seconds, with the values. */
export interface TimeSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [number, string])[];
}

/** In seconds. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

export interface Prometheus extends AsyncDisposable {
  /** Throws when a query is not understood. */
  query(text: string): Promise<readonly Series[]>;
  /** The same for times from one to another, so many seconds apart. */
  queryRange(text: string, range: TimeRange): Promise<readonly TimeSeries[]>;
  get(path: string): Promise<{ readonly [name: string]: unknown }>;
}

export interface PrometheusOptions {
  /** Addresses of the admin ports. */
  readonly api: string;
  readonly relays: readonly string[];
  /** Undefined: as often as the shipped configuration says. */
  readonly everySeconds?: number;
}

/** With the configuration and the rules of `deploy/prometheus`. */
export async function startPrometheus(
  { api, relays, everySeconds }: PrometheusOptions,
): Promise<Prometheus> {
  const folder = await Deno.makeTempDir({ prefix: "static-prometheus-" });
  const given = await Deno.readTextFile(new URL("prometheus/prometheus.yml", deploy));
  const config = given.replace("api:9464", api).replace("relay:9465", relays.join('", "'))
    .replaceAll("15s", everySeconds === undefined ? "15s" : `${everySeconds}s`);
  await Deno.writeTextFile(`${folder}/prometheus.yml`, config);
  await Deno.copyFile(new URL("prometheus/alerts.yml", deploy), `${folder}/alerts.yml`);
  const port = freePort();
  const child = new Deno.Command("prometheus", {
    args: [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const get: Prometheus["get"] = async (path) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    const { status, data, error } = await response.json();
    if (status !== "success") throw new Error(`${path}: ${error}`);
    return data;
  };
  return {
    get,
    query: async (text) => {
      const { result } = await get(`query?query=${encodeURIComponent(text)}`);
      return result as readonly Series[]; // cast: as Prometheus describes a vector
    },
    queryRange: async (text, { from, to, step }) => {
      const query = new URLSearchParams({
        query: text,
        start: String(from),
        end: String(to),
        step: String(step),
      });
      const { result } = await get(`query_range?${query}`);
      return result as readonly TimeSeries[]; // cast: as Prometheus describes a matrix
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await child.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}
