/** The relay's TCP port, where its health and its certificate can be seen by anybody. */
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

/** Of several addresses the first that names a TCP port; of QUIC ones the first, on the port that belongs to it. */
export function tcpAddressOf(relayUrl: string): TcpAddress {
  const addresses = relayUrl.split(",").map((part) => parse(part.trim()));
  const [first] = addresses;
  const best = addresses.find(({ scheme }) => scheme !== "quic") ?? first;
  if (best === undefined) throw badInput("The relay's address is empty");
  const { scheme, host, port } = best;
  const guessed = scheme === "quic" && port !== defaultTcp;
  return { host: host.replace(/^\[|\]$/g, ""), port, url: `https://${host}:${port}`, guessed };
}

function parse(text: string): { readonly scheme: string; readonly host: string; readonly port: number } {
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
