/**
 * Configuration of the stand-alone proxy from the environment: everything is checked at once, all
 * faults are told together.
 */
import {
  type CertificateFiles,
  ownNames,
  ownVariable,
  parseWebOrigin,
  readCertificateFiles,
  type ReadVariable,
  readVariables,
  type VariableReader,
} from "../../server/mod.ts";
import type { RemoteRelay } from "./remote_stream.ts";

export interface ProxyConfig {
  readonly relay: RemoteRelay;
  readonly listen: { readonly hostname: string; readonly port: number };
  readonly certificateFiles: CertificateFiles;
  readonly origins: readonly string[];
}

const defaultPort = 5000;
const defaultRelayPort = 4433;

/** Throws `ConfigError`. */
export function readProxyConfig(
  variable: ReadVariable,
  names: readonly string[] = [],
): ProxyConfig {
  return readVariables({ what: "the proxy", variable, names }, (read) => {
    const caCerts = read.file("STATIC_CA_FILE");
    return {
      relay: { ...readRelay(read), caCerts: caCerts === undefined ? [] : [caCerts] },
      listen: {
        hostname: read.text("STATIC_RELAY_HOST", "127.0.0.1"),
        port: read.port("STATIC_RELAY_GRPC_PORT", defaultPort),
      },
      certificateFiles: readOwnCertificate(read),
      origins: read.list(
        "STATIC_CORS_ORIGINS",
        parseWebOrigin,
        "an origin such as https://app.example.com",
      ) ?? [],
    };
  });
}

/** The process's own environment. */
export function configFromEnvironment(): ProxyConfig {
  return readProxyConfig(ownVariable, ownNames());
}

function readRelay(read: VariableReader): { readonly hostname: string; readonly port: number } {
  const match = /^quic:\/\/(\[[\da-fA-F:.]+\]|[\w.-]+)(?::(\d{1,5}))?\/?$/.exec(
    read.text("STATIC_RELAY_URL", ""),
  );
  const port = Number(match?.[2] ?? defaultRelayPort);
  if (match === null || port > 65_535) {
    read.fault("STATIC_RELAY_URL", "set to the relay's address, quic://host:port");
  }
  return { hostname: (match?.[1] ?? "").replace(/^\[|\]$/g, ""), port };
}

function readOwnCertificate(read: VariableReader): CertificateFiles {
  const files = readCertificateFiles(read);
  if (read.given("STATIC_TLS_CERT") === undefined && read.given("STATIC_TLS_KEY") === undefined) {
    read.fault(
      "STATIC_TLS_CERT and STATIC_TLS_KEY",
      "set to the PEM files of the proxy's own certificate and of its key",
    );
  }
  return files ?? { certFile: "", keyFile: "" };
}
