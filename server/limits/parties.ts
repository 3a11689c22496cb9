/**
 * Names of the parties that limits count. A customer of an IPv6 network commands a /64 at least and
 * often a /56, with 256 networks of /64 in it, so limits know both: the prefix (an IPv4 address, or
 * the /64 of an IPv6 one), and the network around it.
 */

import { firstBits, parseAddress } from "./addresses.ts";

/** A network may have as much as this many of its prefixes. */
export const networkShare = 4;

/** Both names of the same client, for a caller that uses them often. */
export interface Origin {
  readonly prefix: string;
  readonly network: string;
}

export function originOf(address: string): Origin {
  const prefix = prefixOf(address);
  return { prefix, network: networkOf(prefix) };
}

/**
 * The IPv4 address, also when it comes mapped into IPv6, or the /64. A prefix is its own; a text
 * that is no address too.
 */
export function prefixOf(address: string): string {
  return blockOf(address, 64);
}

/** The IPv4 address, or the /56. Takes addresses and prefixes. */
export function networkOf(address: string): string {
  return blockOf(address, 56);
}

/** Without the zone or the length of a prefix behind it. */
function blockOf(address: string, bits: 56 | 64): string {
  // Most are like this, and are asked for often.
  const ipv4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const groups = parseAddress(address.replace(/[%/].*$/, ""));
  if (groups === undefined) return address;
  if (groups.length === 2) return groups.flatMap((group) => [group >> 8, group & 0xff]).join(".");
  return `${firstBits(groups.slice(0, 4), bits)}::/${bits}`;
}
