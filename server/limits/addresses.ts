/** IP addresses and ranges of them, as configurations name the machines that stand between this one and the parties. */

/** Shows as its text, also in logs. */
export interface AddressRange {
  readonly text: string;
  contains(address: string): boolean;
}

/** `10.0.0.0/8`, `2001:db8::/32`, or a single address. Undefined when it is none of these. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [address = "", length, ...more] = text.split("/");
  const base = parseAddress(address);
  if (base === undefined || more.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return undefined;
  const bits = base.family === 4 ? 32 : 128;
  const prefixLength = length === undefined ? bits : Number(length);
  if (prefixLength > bits) return undefined;
  const shift = BigInt(bits - prefixLength);
  const contains = (other: string): boolean => {
    const parsed = parseAddress(other);
    return parsed?.family === base.family && parsed.value >> shift === base.value >> shift;
  };
  return { text, contains };
}

/** Returns whether it is a number and no name, without brackets, zone and port. */
export function isAddress(text: string): boolean {
  return parseAddress(text) !== undefined;
}

/** An IPv4 address that comes mapped into IPv6 is one of IPv4. */
function parseAddress(text: string): { readonly family: 4 | 6; readonly value: bigint } | undefined {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)?.[1];
  const ipv4 = parseIpv4(mapped ?? text);
  if (ipv4 !== undefined) return { family: 4, value: ipv4 };
  const ipv6 = parseIpv6(text);
  if (ipv6 === undefined) return undefined;
  return ipv6 >> 32n === 0xffffn ? { family: 4, value: ipv6 & 0xffff_ffffn } : { family: 6, value: ipv6 };
}

/** Without leading zeros: some programs read such numbers as octal. */
function parseIpv4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || parts.some((part) => !/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255)) {
    return undefined;
  }
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
