/**
 * IP addresses and ranges of them, as configurations name the machines that stand between this one
 * and the parties.
 */

/** Shows as its text, also in logs. */
export interface AddressRange {
  readonly text: string;
  contains(address: string): boolean;
}

/** `10.0.0.0/8`, `2001:db8::/32`, or a single address. Undefined when it is none of these. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [address = "", length, ...more] = text.split("/");
  const base = parseAddress(address);
  if (
    base === undefined || more.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))
  ) return undefined;
  const bits = groupBits * base.length;
  const prefixBits = length === undefined ? bits : Number(length);
  if (prefixBits > bits) return undefined;
  const contains = (other: string): boolean => {
    const groups = parseAddress(other);
    return groups?.length === base.length &&
      firstBits(groups, prefixBits) === firstBits(base, prefixBits);
  };
  return { text, contains };
}

/** Returns whether it is a number and no name, without brackets, zone and port. */
export function isAddress(text: string): boolean {
  return parseAddress(text) !== undefined;
}

/**
 * Numbers of 16 bits: two of an IPv4 address, also of one that comes mapped into IPv6, and eight of
 * an IPv6 one.
 */
export type Groups = readonly number[];

const groupBits = 16;

export function parseAddress(text: string): Groups | undefined {
  const groups = text.includes(":") ? parseIpv6(text) : parseIpv4(text);
  const isMapped = groups?.[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  return isMapped ? groups.slice(6) : groups;
}

/** The groups in hexadecimal, with zeros for all bits but the first ones. */
export function firstBits(groups: Groups, bits: number): string {
  return groups.map((group, index) => {
    const free = Math.min(groupBits, Math.max(0, groupBits * (index + 1) - bits));
    return (group >> free << free).toString(16);
  }).join(":");
}

/** Without leading zeros: some programs read such numbers as octal. */
function parseIpv4(text: string): Groups | undefined {
  const parts = text.split(".").map((part) =>
    /^(?:0|[1-9]\d{0,2})$/.test(part) ? Number(part) : NaN
  );
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  return parts.length === 4 && parts.every((part) => part <= 255)
    ? [a << 8 | b, c << 8 | d]
    : undefined;
}

function parseIpv6(text: string): Groups | undefined {
  const [head = "", tail, ...more] = text.split("::");
  const [before, after] = [parseGroups(head, tail === undefined), parseGroups(tail ?? "", true)];
  const missing = 8 - before.length - after.length;
  if (more.length > 0 || (tail === undefined ? missing !== 0 : missing < 1)) return undefined;
  const groups = [...before, ...new Array<number>(missing).fill(0), ...after];
  return groups.some(Number.isNaN) ? undefined : groups;
}

/** The last group of an address may be written as an IPv4 address. NaN for groups that are none. */
function parseGroups(text: string, isEnd: boolean): Groups {
  return text === "" ? [] : text.split(":").flatMap((group, index, all) => {
    if (/^[0-9a-f]{1,4}$/i.test(group)) return parseInt(group, 16);
    return (isEnd && index === all.length - 1 ? parseIpv4(group) : undefined) ?? NaN;
  });
}
