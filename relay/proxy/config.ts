/** Configuration of the stand-alone proxy from the environment: everything is checked at once, all faults are told together. */
import type { KeyedCertificate } from "../../server/mod.ts";
import type { RemoteRelay } from "./remote_stream.ts";

export interface ProxyConfig {
  readonly relay: RemoteRelay;
  readonly listen: { readonly hostname: string; readonly port: number };
  readonly certificateFiles: { readonly cert: string; readonly key: string };
  readonly origins: readonly string[];
}

export class ProxyConfigError extends Error {
  override readonly name = "ProxyConfigError";

  constructor(faults: readonly string[]) {
    super(`Cannot start the proxy:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
  }
}

export interface ProxyEnvironment {
  get(name: string): string | undefined;
  readTextFile(path: string): string;
}

const defaultPort = 5000;
const defaultRelayPort = 4433;

/** Throws `ProxyConfigError`. */
export function proxyConfigFrom(environment: ProxyEnvironment): ProxyConfig {
  const faults: string[] = [];
  const value = (name: string): string | undefined => environment.get(name)?.trim() || undefined;
  const required = (name: string, what: string): string => {
    const text = value(name);
    if (text === undefined) faults.push(`${name} is not set: ${what}`);
    return text ?? "";
  };
  const config: ProxyConfig = {
    relay: {
      ...parseRelay(required("STATIC_RELAY_URL", "the relay's address, quic://host:port"), faults),
      caCerts: readCaFile(environment, value("STATIC_CA_FILE"), faults),
    },
    listen: {
      hostname: value("STATIC_PROXY_HOST") ?? "127.0.0.1",
      port: parsePort(value("STATIC_PROXY_PORT") ?? String(defaultPort), faults),
    },
    certificateFiles: {
      cert: required("STATIC_TLS_CERT", "the PEM file of the proxy's own certificate"),
      key: required("STATIC_TLS_KEY", "the PEM file of its private key"),
    },
    origins: (value("STATIC_CORS_ORIGINS") ?? "").split(",").map((origin) => origin.trim()).filter(Boolean),
  };
  if (faults.length > 0) throw new ProxyConfigError(faults);
  return config;
}

/** Throws what reading throws: a certificate may be unreadable while it is being renewed. */
export function readCertificate(environment: ProxyEnvironment, config: ProxyConfig): KeyedCertificate {
  const { cert, key } = config.certificateFiles;
  return { cert: environment.readTextFile(cert), key: environment.readTextFile(key) };
}

function parseRelay(text: string, faults: string[]): { readonly hostname: string; readonly port: number } {
  const match = /^quic:\/\/(\[[\da-fA-F:.]+\]|[\w.-]+)(?::(\d{1,5}))?\/?$/.exec(text);
  if (text !== "" && match === null) faults.push(`STATIC_RELAY_URL is "${text}", not quic://host:port`);
  const hostname = (match?.[1] ?? "").replace(/^\[|\]$/g, "");
  return { hostname, port: Number(match?.[2] ?? defaultRelayPort) };
}

function parsePort(text: string, faults: string[]): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    faults.push(`STATIC_PROXY_PORT is "${text}", not a port from 0 to 65535`);
  }
  return port;
}

function readCaFile(environment: ProxyEnvironment, path: string | undefined, faults: string[]): readonly string[] {
  if (path === undefined) return [];
  try {
    return [environment.readTextFile(path)];
  } catch {
    faults.push(`STATIC_CA_FILE: cannot read ${path}`);
    return [];
  }
}
