/** The TCP port of a relay, where its health and its certificate can be seen by anybody. */
import { groupByRelay } from "../../proto/mod.ts";
import { badInput } from "../failure.ts";

/** A relay's default ports belong together: 4433 for QUIC, 5000 for everything over TCP. */
const [defaultQuic, defaultTcp] = [4433, 5000];
const form = /^(quic|grpc|https):\/\/([\w.-]+|\[[\da-fA-F:.]+\])(?::(\d{1,5}))?\/?$/;

export interface TcpAddress {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** Only a QUIC port is named, which is none of the default ones. */
  readonly guessed: boolean;
}

/** One for each relay of the list. */
export function tcpAddressesOf(relayUrl: string): readonly TcpAddress[] {
  return groupByRelay(relayUrl.split(",").map((part) => part.trim())).map(tcpAddressOf);
}

/**
 * Returns the address that names the relay's TCP port; without one, the port that belongs to its
 * QUIC port.
 */
function tcpAddressOf(texts: readonly string[]): TcpAddress {
  const addresses = texts.map(parse);
  const [first] = addresses;
  const best = addresses.find(({ scheme }) => scheme !== "quic") ?? first;
  if (best === undefined) throw badInput("The relay's address is empty");
  const { scheme, host, port } = best;
  const guessed = scheme === "quic" && port !== defaultTcp;
  return { host: host.replace(/^\[|\]$/g, ""), port, url: `https://${host}:${port}`, guessed };
}

function parse(
  text: string,
): { readonly scheme: string; readonly host: string; readonly port: number } {
  const [, scheme, host, digits] = form.exec(text) ?? [];
  if (scheme === undefined || host === undefined) {
    throw badInput(
      `"${text}" cannot be the relay's address`,
      "Write quic://host:4433 or https://host:5000, without a path",
    );
  }
  const given = digits === undefined ? undefined : Number(digits);
  if (scheme === "https") return { scheme, host, port: given ?? 443 };
  return { scheme, host, port: given === undefined || given === defaultQuic ? defaultTcp : given };
}
