/** The one file of values of the manifests. */
import { parseEnv } from "node:util";
import { parseApiUrl } from "../../proto/mod.ts";
import { readVariables, type VariableReader } from "../../server/mod.ts";

export interface Values {
  readonly namespace: string;
  readonly metricsNamespace: string;
  /** The Secret has the authority of the database's certificate. */
  readonly hasDatabaseCa: boolean;
  readonly apiImage: string;
  readonly relayImage: string;
  /** The name that agents dial. */
  readonly relayHost: string;
  /** The API's address as clients know it. */
  readonly apiUrl: string;
  readonly trustedProxies: string;
  readonly trustedHeader: string;
  readonly corsOrigins: string;
  /** Undefined: the cluster's usual one. */
  readonly storageClass: string | undefined;
  readonly relayDisk: string;
  readonly relayMemory: string;
  readonly apiMemory: string;
  /** The address of a collector of traces; undefined: both parts send none. */
  readonly tracesUrl: string | undefined;
}

const name = {
  form: /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
  expected: "a name of small letters, digits and hyphens",
};
const host = {
  form: /^[a-z0-9-]+(\.[a-z0-9-]+)+$/,
  expected: "a host's name, such as relay.example.com",
};
const image = {
  form: /^[\w.:/@-]+[:@][\w.:-]+$/,
  expected: "an image with its tag or digest, such as registry.example.com/static-api:0.1.0",
};
const size = { form: /^[1-9]\d*(Mi|Gi|Ti)$/, expected: "a size such as 20Gi" };
const collector = {
  form: /^https?:\/\/[^\s@/]+\/\S*$/,
  expected:
    "a collector's address with its path and without a password, such as http://otel.monitoring:4318/v1/traces",
};
const text = { form: /^[^\n]*$/, expected: "one line" };

/** Throws `ConfigError` with every fault of the file. */
export function readValues(file: string): Values {
  const given = parseEnv(file);
  const asked = new Set<string>();
  const variable = (name: string): string | undefined => {
    asked.add(name);
    return given[name];
  };
  return readVariables({ what: "the manifests", variable }, (read) => {
    const values = readAll(read);
    for (const name of Object.keys(given)) {
      if (!asked.has(name)) read.fault(name, "left out: the manifests have no such value");
    }
    return values;
  });
}

function readAll(read: VariableReader): Values {
  const needed = (
    name: string,
    { form, expected }: { readonly form: RegExp; readonly expected: string },
  ): string => {
    const value = read.given(name);
    if (value !== undefined && form.test(value)) return value;
    read.fault(name, expected);
    return "";
  };
  const optional = (name: string, rule: Parameters<typeof needed>[1]): string | undefined =>
    read.given(name) === undefined ? undefined : needed(name, rule);
  const apiUrl = read.given("API_URL") ?? "";
  if (!apiUrl.startsWith("https://") || parseApiUrl(apiUrl) === undefined) {
    read.fault("API_URL", "the public address of the API, such as https://api.example.com");
  }
  return {
    namespace: needed("NAMESPACE", name),
    metricsNamespace: needed("METRICS_NAMESPACE", name),
    hasDatabaseCa: read.choice("DATABASE_CA", ["no", "yes"]) === "yes",
    apiImage: needed("API_IMAGE", image),
    relayImage: needed("RELAY_IMAGE", image),
    relayHost: needed("RELAY_HOST", host),
    apiUrl,
    // The parts themselves check these.
    trustedProxies: needed("TRUSTED_PROXIES", text),
    trustedHeader: read.choice("TRUSTED_HEADER", ["X-Forwarded-For", "Forwarded"]),
    corsOrigins: read.text("CORS_ORIGINS", ""),
    storageClass: read.given("STORAGE_CLASS"),
    relayDisk: needed("RELAY_DISK", size),
    relayMemory: needed("RELAY_MEMORY", size),
    apiMemory: needed("API_MEMORY", size),
    tracesUrl: optional("TRACES_URL", collector),
  };
}
