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
  const groups = leadingGroups(address);
  return groups === undefined ? address : `${written(groups)}::/64`;
}

/** The IPv4 address, or the /56. Takes addresses and prefixes. */
export function networkOf(address: string): string {
  const prefix = prefixOf(address);
  const [first, second, third, fourth = 0] = leadingGroups(prefix) ?? [];
  if (first === undefined || second === undefined || third === undefined) return prefix;
  return `${written([first, second, third, fourth & 0xff00])}::/56`;
}

/** The first four of the eight groups of an IPv6 address. */
function leadingGroups(address: string): number[] | undefined {
  if (!address.includes(":")) return undefined;
  const [head = "", tail = ""] = address.replace(/[%/].*$/, "").split("::");
  const [before, after] = [split(head), split(tail)];
  const zeros = new Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  const all = [...before, ...zeros, ...after];
  const groups = all.slice(0, 4);
  return groups.length === 4 && groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? groups.map((group) => parseInt(group, 16))
    : undefined;
}

function split(part: string): string[] {
  return part === "" ? [] : part.split(":");
}

function written(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(":");
}
