/**
 * The header that a balancer writes before the first byte of its client (PROXY protocol, versions 1
 * and 2). It says whose connection this is. Pure: it is given all bytes that have come so far, and
 * says whether a whole header is among them.
 */
import { isAddress } from "../limits/mod.ts";

export type ProxyHeader =
  /** As far as it has come, it can be one. */
  | { readonly kind: "partial" }
  | { readonly kind: "garbage" }
  | {
    readonly kind: "whole";
    /** Its length: all that follows is the client's. */
    readonly bytes: number;
    /** Undefined: a connection of the balancer itself, such as a health check. */
    readonly client: string | undefined;
  };

/**
 * In place of the address of a balancer's own connections: clients on its machine have budgets of
 * their own.
 */
export const balancerAddress = "balancer";

/** Version 2 fits into the smallest segment that every network carries. */
export const maxHeaderBytes = 536;
/** The longest line of version 1, with its end. */
const maxLineBytes = 107;

const partial: ProxyHeader = { kind: "partial" };
const garbage: ProxyHeader = { kind: "garbage" };

const lineStart = new TextEncoder().encode("PROXY ");
const signature = new TextEncoder().encode("\r\n\r\n\0\r\nQUIT\n");

export function parseProxyHeader(bytes: Uint8Array): ProxyHeader {
  if (begins(bytes, lineStart)) return bytes.length < lineStart.length ? partial : parseLine(bytes);
  if (begins(bytes, signature)) {
    return bytes.length < signature.length ? partial : parseBinary(bytes);
  }
  return garbage;
}

/** Returns whether the bytes begin like this, as far as they have come. */
function begins(bytes: Uint8Array, expected: Uint8Array): boolean {
  return bytes.subarray(0, expected.length).every((byte, i) => byte === expected[i]);
}

// Version 1

const lineFamilies = new Map([["TCP4", /^[\d.]+$/], ["TCP6", /:/]]);

function parseLine(bytes: Uint8Array): ProxyHeader {
  const text = String.fromCharCode(...bytes.subarray(0, maxLineBytes));
  const line = /^([ -~]*)\r\n/.exec(text)?.[1];
  if (line === undefined) {
    return text.length < maxLineBytes && /^[ -~]*\r?$/.test(text) ? partial : garbage;
  }
  const [, family = "", source = "", target = "", ...ports] = line.split(" ");
  const whole = (client?: string): ProxyHeader => ({
    kind: "whole",
    bytes: line.length + 2,
    client,
  });
  if (family === "UNKNOWN") return whole(); // nothing else of the line counts
  const form = lineFamilies.get(family);
  const isValid = [source, target].every((address) => form?.test(address) && isAddress(address)) &&
    ports.length === 2 && ports.every((port) => /^\d{1,5}$/.test(port) && Number(port) <= 65_535);
  return isValid ? whole(source) : garbage;
}

// Version 2

const fixedBytes = 16;
const local = 0x20;
const proxied = 0x21;

/**
 * Address blocks of the families that a TCP port can be asked for. A client on a socket in the file
 * system has no address.
 */
const families: Readonly<
  Record<number, { readonly blockBytes: number; readonly addressBytes: 0 | 4 | 16 }>
> = {
  0x11: { blockBytes: 12, addressBytes: 4 },
  0x21: { blockBytes: 36, addressBytes: 16 },
  0x31: { blockBytes: 216, addressBytes: 0 },
};
const unspecified = 0x00;

function parseBinary(bytes: Uint8Array): ProxyHeader {
  const [command = local, family = unspecified, high = 0, low = 0] = bytes.subarray(
    signature.length,
  );
  const length = fixedBytes + (high << 8 | low);
  if ((command !== local && command !== proxied) || length > maxHeaderBytes) return garbage;
  if (bytes.length < Math.max(fixedBytes, length)) return partial;
  const whole = (client?: string): ProxyHeader => ({ kind: "whole", bytes: length, client });
  if (command === local || family === unspecified) return whole(); // the rest is not looked at
  const block = bytes.subarray(fixedBytes, length);
  const shape = families[family];
  if (shape === undefined || !isFilled(block, shape.blockBytes)) return garbage;
  return whole(
    shape.addressBytes === 0 ? undefined : textOf(block.subarray(0, shape.addressBytes)),
  );
}

/**
 * Returns whether the block has its addresses and behind them whole extensions (a type, two bytes
 * of length, a value), no more.
 */
function isFilled(block: Uint8Array, addressBytes: number): boolean {
  let at = addressBytes;
  while (at < block.length) at += 3 + ((block[at + 1] ?? 0) << 8 | (block[at + 2] ?? 0));
  return at === block.length;
}

/** An IPv4 address that comes mapped into IPv6 is written as such. */
function textOf(address: Uint8Array): string {
  const isMapped = address.length === 16 &&
    address.subarray(0, 12).every((byte, i) => byte === (i < 10 ? 0 : 0xff));
  if (address.length === 4 || isMapped) return address.subarray(-4).join(".");
  const group = (i: number): string =>
    ((address[2 * i] ?? 0) << 8 | (address[2 * i + 1] ?? 0)).toString(16);
  return Array.from({ length: 8 }, (_, i) => group(i)).join(":");
}
