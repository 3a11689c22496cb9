/**
 * The caller for rate limits: the peer's address, or, when the peer is a proxy we were told to
 * trust, the nearest address in one header that is not such a proxy. Anyone can write that header,
 * so nothing else of it counts. No other header is read: proxies pass it on as a client wrote it.
 */
import { type AddressRange, isAddress, prefixOf } from "../server/limits/mod.ts";

/**
 * `X-Forwarded-For` has a list of addresses; `Forwarded` (RFC 7239) has them in its parameter
 * `for`.
 */
export type ForwardingHeader = "X-Forwarded-For" | "Forwarded";

export type ClientAddress = (
  peer: string | undefined,
  header: (name: string) => string | undefined,
) => string;

export function createRangeCheck(ranges: readonly AddressRange[]): (address: string) => boolean {
  return (address) => ranges.some((range) => range.contains(address));
}

export function createClientAddress(
  trusted: readonly AddressRange[],
  name: ForwardingHeader,
): ClientAddress {
  const isTrusted = createRangeCheck(trusted);
  const hopsOf = name === "Forwarded" ? forwardedHops : listedHops;
  const last = { peer: "", subject: "" };
  return (peer, header) => {
    if (peer === undefined) return "unknown";
    const value = trusted.length > 0 && isTrusted(peer) ? header(name) : undefined;
    if (value === undefined) {
      // Most requests come from where the one before came from.
      if (last.peer !== peer) Object.assign(last, { peer, subject: prefixOf(peer) });
      return last.subject;
    }
    const client = hopsOf(value).find((hop) => !isTrusted(hop));
    return prefixOf(client !== undefined && isAddress(client) ? client : peer);
  };
}

/** The nearest first: each proxy adds the address of its own peer on the right. */
function listedHops(value: string): IteratorObject<string> {
  return value.split(",").reverse().values().map((hop) => withoutPort(hop.trim()));
}

/** A name and its value, which may be quoted. */
const parameter = /(?:^|;)\s*([\w!#$%&'*+.^`|~-]+)=("(?:[^"\\]|\\.)*"|[^";\s]*)\s*(?=;|$)/g;

/**
 * The same. An element without an address (`unknown`, `_hidden`, no `for`, two of them) is a hop
 * that nobody knows.
 */
function forwardedHops(value: string): IteratorObject<string> {
  return elementsFromRight(value).map((element) => {
    const [first, ...more] = element.matchAll(parameter).filter(([, name]) =>
      name?.toLowerCase() === "for"
    );
    return more.length === 0 ? withoutPort(unquoted(first?.[2] ?? "")) : "";
  });
}

/**
 * From the right, where our own proxies wrote, a quote that a client has left open does not swallow
 * what they added.
 */
function* elementsFromRight(value: string): Generator<string> {
  let [end, isQuoted] = [value.length, false];
  for (let i = end - 1; i >= 0; i--) {
    if (value[i] === '"' && value[i - 1] !== "\\") isQuoted = !isQuoted;
    if (value[i] !== "," || isQuoted) continue;
    yield value.slice(i + 1, end);
    end = i;
  }
  yield value.slice(0, end);
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value;
}

/**
 * Some proxies write `192.0.2.1:50123` or `[2001:db8::1]:50123`; taken for garbage, all their
 * clients would be one.
 */
function withoutPort(hop: string): string {
  return /^\[([^\]]*)\](?::[\w.-]+)?$/.exec(hop)?.[1] ?? /^([\d.]+):[\w.-]+$/.exec(hop)?.[1] ?? hop;
}
