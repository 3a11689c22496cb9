/**
 * The caller for rate limits: the peer's address, or, when the peer is a proxy we were told to trust, the nearest
 * address in `X-Forwarded-For` that is not such a proxy. Anyone can write that header, so nothing else of it counts.
 */
import { prefixOf } from "../server/limits/mod.ts";

export interface AddressRange {
  readonly family: 4 | 6;
  readonly base: bigint;
  readonly prefixLength: number;
}

/** `10.0.0.0/8`, `2001:db8::/32`, or a single address. Undefined when it is none of these. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [address = "", length, ...more] = text.split("/");
  const parsed = parseAddress(address);
  if (parsed === undefined || more.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return undefined;
  const bits = parsed.family === 4 ? 32 : 128;
  const prefixLength = length === undefined ? bits : Number(length);
  return prefixLength > bits ? undefined : { family: parsed.family, base: parsed.value, prefixLength };
}

export function createClientAddress(
  trusted: readonly AddressRange[],
): (peer: string | undefined, forwardedFor: string | undefined) => string {
  const isTrusted = (address: string): boolean => trusted.some((range) => contains(range, address));
  const last = { peer: "", subject: "" };
  return (peer, forwardedFor) => {
    if (peer === undefined) return "unknown";
    if (trusted.length === 0 || forwardedFor === undefined || !isTrusted(peer)) {
      // Most requests come from where the one before came from.
      if (last.peer !== peer) Object.assign(last, { peer, subject: prefixOf(peer) });
      return last.subject;
    }
    // The right-most entries were added by the proxies nearest to us.
    const hops = forwardedFor.split(",").reverse().values().map((hop) => withoutPort(hop.trim()));
    const client = hops.find((hop) => !isTrusted(hop));
    return prefixOf(client !== undefined && parseAddress(client) !== undefined ? client : peer);
  };
}

/** Some proxies write `192.0.2.1:50123` or `[2001:db8::1]:50123`; taken for garbage, all their clients would be one. */
function withoutPort(hop: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}

function contains({ family, base, prefixLength }: AddressRange, address: string): boolean {
  const parsed = parseAddress(address);
  if (parsed?.family !== family) return false;
  const shift = BigInt((family === 4 ? 32 : 128) - prefixLength);
  return parsed.value >> shift === base >> shift;
}

function parseAddress(text: string): { family: 4 | 6; value: bigint } | undefined {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)?.[1];
  const ipv4 = parseIpv4(mapped ?? text);
  if (ipv4 !== undefined) return { family: 4, value: ipv4 };
  const ipv6 = parseIpv6(text);
  return ipv6 === undefined ? undefined : { family: 6, value: ipv6 };
}

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || parts.some((part) => !/^\d{1,3}$/.test(part) || Number(part) > 255)) return undefined;
  return parts.reduce((value, part) => value << 8n | BigInt(part), 0n);
}

function parseIpv6(text: string): bigint | undefined {
  const [head = "", tail, ...more] = text.split("::");
  const groups = (part: string): string[] => part === "" ? [] : part.split(":");
  const [before, after] = [groups(head), tail === undefined ? [] : groups(tail)];
  const missing = 8 - before.length - after.length;
  if (more.length > 0 || (tail === undefined ? missing !== 0 : missing < 1)) return undefined;
  const all = [...before, ...new Array<string>(missing).fill("0"), ...after];
  if (all.some((group) => !/^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return all.reduce((value, group) => value << 16n | BigInt(`0x${group}`), 0n);
}
