/**
 * Names of the parties that limits count. A customer of an IPv6 network commands a /64 at least and often a /56, with 256
 * networks of /64 in it, so limits know both: the prefix (an IPv4 address, or the /64 of an IPv6 one), and the network around it.
 */

/** A network may have as much as this many of its prefixes. */
export const networkShare = 4;

/** The IPv4 address, also when it comes mapped into IPv6, or the /64. A prefix is its own; a text that is no address too. */
export function prefixOf(address: string): string {
  const ipv4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const groups = groupsOf(address);
  if (groups === undefined) return address;
  return mappedIpv4(groups) ?? `${written(groups.slice(0, 4))}::/64`;
}

/** The IPv4 address, or the /56. Takes addresses and prefixes. */
export function networkOf(address: string): string {
  const prefix = prefixOf(address);
  const [first, second, third, fourth = 0] = groupsOf(prefix) ?? [];
  if (first === undefined || second === undefined || third === undefined) return prefix;
  return `${written([first, second, third, fourth & 0xff00])}::/56`;
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] | undefined {
  if (!address.includes(":")) return undefined;
  const [head = "", tail = ""] = inGroups(address.replace(/[%/].*$/, "")).split("::");
  const [before, after] = [split(head), split(tail)];
  const zeros = new Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  const groups = [...before, ...zeros, ...after];
  return groups.length === 8 && groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? groups.map((group) => parseInt(group, 16))
    : undefined;
}

/** The last two groups may be written as an IPv4 address. */
function inGroups(address: string): string {
  return address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...[a, b, c, d]: string[]) => {
    return written([Number(a) << 8 | Number(b), Number(c) << 8 | Number(d)]);
  });
}

function mappedIpv4(groups: readonly number[]): string | undefined {
  const [mark = 0, high = 0, low = 0] = groups.slice(5);
  if (mark !== 0xffff || groups.slice(0, 5).some((group) => group !== 0)) return undefined;
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

function split(part: string): string[] {
  return part === "" ? [] : part.split(":");
}

function written(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(":");
}
