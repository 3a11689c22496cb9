/**
 * Where relays are and which ways lead there. `quic://` means the UDP port first and TCP when that
 * fails; `grpc://` and `https://` mean TCP. A relay's two default ports belong together; any other
 * number is taken to be the same for both. A list names several relays of one service, or several
 * addresses of one: a TCP address right behind a QUIC one is the same relay's, and every other
 * address begins another relay.
 */
import { maxRelayAddresses, relaysOf } from "../../proto/mod.ts";
import { createError } from "../base/errors.ts";
import type { CertificateTrust, Connector, ConnectTarget, TransportName } from "./transport.ts";

/** `grpc` is whatever this runtime can do on the relay's TCP port. */
export type TransportChoice = "auto" | "quic" | "webtransport" | "grpc";

export interface Endpoint {
  readonly scheme: "quic" | "grpc" | "https";
  readonly host: string;
  readonly port: number;
  /**
   * The text that the agent signs when it authenticates: scheme, lowercase host and port,
   * independent of the transport.
   */
  readonly origin: string;
  /** Whom to trust there. */
  readonly trust: CertificateTrust;
}

/** One way to one endpoint. */
export interface RelayRoute {
  /** Ways with the same number lead to the same relay. */
  readonly relay: number;
  readonly connector: Connector;
  readonly target: ConnectTarget;
  readonly origin: string;
}

const defaultPorts = { quic: 4433, grpc: 5000, https: 443 } as const;
const form = /^(quic|grpc|https):\/\/(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::(\d{1,5}))?\/?$/;

/**
 * One endpoint, or several separated by commas; `trust` holds for all of them. Throws
 * `invalid_request`.
 */
export function parseEndpoints(text: string, trust: CertificateTrust): readonly Endpoint[] {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.length > maxRelayAddresses) throw refused(`at most ${maxRelayAddresses} can be given`);
  return parts.map((part) => parseEndpoint(part, trust));
}

function parseEndpoint(text: string, trust: CertificateTrust): Endpoint {
  const [, scheme, digits] = form.exec(text) ?? [];
  if (scheme !== "quic" && scheme !== "grpc" && scheme !== "https") {
    throw refused("write quic://host:4433, grpc://host:5000 or https://host:5000, without a path");
  }
  // The URL parser knows the rules for hosts, but only for schemes that it knows.
  const asHttps = text.replace(/^\w+/, "https");
  if (!URL.canParse(asHttps)) throw refused("host or port is not valid");
  const { hostname } = new URL(asHttps);
  const port = digits === undefined ? defaultPorts[scheme] : Number(digits);
  if (port === 0) throw refused("a port is 1 to 65535");
  return {
    scheme,
    host: hostname.replace(/^\[|\]$/g, ""),
    port,
    origin: `${scheme}://${hostname}:${port}`,
    trust,
  };
}

/**
 * Every way that this runtime has, the best first. Throws `connection_error` when there is none,
 * and says why.
 */
export function waysTo(
  endpoints: readonly Endpoint[],
  connectors: readonly Connector[],
  choice: TransportChoice,
): readonly RelayRoute[] {
  const missing: string[] = [];
  const relays = relaysOf(endpoints.map(({ origin }) => origin));
  const ways = endpoints.flatMap((endpoint, index) =>
    connectors.filter((connector) => isWanted(connector, choice, endpoint)).flatMap((connector) => {
      const { host, origin, trust } = endpoint;
      const why = connector.unusable(trust);
      if (why !== undefined) missing.push(`${connector.transport}: ${why}`);
      const target = { host, port: portFor(connector, endpoint), trust };
      return why === undefined ? [{ relay: relays[index] ?? 0, connector, target, origin }] : [];
    })
  );
  if (ways.length > 0) return ways;
  const [origins, asked] = [
    endpoints.map(({ origin }) => origin).join(", "),
    choice === "auto" ? "" : ` by ${choice}`,
  ];
  const reasons = missing.length > 0
    ? missing.join("; ")
    : "this runtime has no such transport; leave it to auto";
  throw createError("connection_error", `No way leads to ${origins}${asked}: ${reasons}`);
}

function isWanted(
  { transport, carrier }: Connector,
  choice: TransportChoice,
  { scheme }: Endpoint,
): boolean {
  if (choice === "auto") return scheme === "quic" || carrier === "tcp";
  return choice === "grpc" ? carrier === "tcp" : transport === choice satisfies TransportName;
}

function portFor({ carrier }: Connector, { port }: Endpoint): number {
  if (carrier === "udp") return port === defaultPorts.grpc ? defaultPorts.quic : port;
  return port === defaultPorts.quic ? defaultPorts.grpc : port;
}

function refused(why: string): Error {
  return createError("invalid_request", `Cannot use the endpoint: ${why}`);
}
