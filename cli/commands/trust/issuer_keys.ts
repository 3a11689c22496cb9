/**
 * An issuer's private keys, in a file that only its owner can read: the document of its domain,
 * with the private half `d` of each key. It may lie on a stick; nothing but signing needs it.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import {
  type Badge,
  badgeKeyStatement,
  badgeStatement,
  decodeBase64url,
  encodeBase64url,
  equalBytes,
  formatIssuerDocument,
  type IssuerDocument,
  maxIssuerKeys,
  parseIssuerDocument,
  type UnsignedBadge,
  WireError,
} from "../../../proto/mod.ts";
import type { Context } from "../../command.ts";
import { reasonOf } from "../../disk.ts";
import { badInput } from "../../failure.ts";

export interface IssuerKeys {
  readonly document: IssuerDocument;
  /** Private keys, by the name of the key. */
  readonly seeds: ReadonlyMap<string, Uint8Array>;
}

const seedBytes = 32;

/** Throws when there is none, or it is not right. */
export async function readIssuerKeys(
  context: Context,
  path: string,
  domain: string,
): Promise<IssuerKeys> {
  const keys = await findIssuerKeys(context, path, domain);
  if (keys !== undefined) return keys;
  throw badInput(
    `There is no file ${path} with the keys of ${domain}`,
    `Make one with: {} badge key new --domain ${domain}`,
  );
}

/** Undefined when there is none. */
export async function findIssuerKeys(
  { platform: { files } }: Context,
  path: string,
  domain: string,
): Promise<IssuerKeys | undefined> {
  const text = await files.read(path).catch((cause) => {
    throw badInput(`Cannot read ${path}: ${reasonOf(cause)}`);
  });
  return text === undefined ? undefined : parseIssuerKeys(text, { path, domain });
}

export function parseIssuerKeys(
  text: string,
  { path, domain }: { readonly path: string; readonly domain: string },
): IssuerKeys {
  const unusable = (why: string): Error => badInput(`Cannot use ${path}: ${why}`);
  const seeds = new Map<string, Uint8Array>();
  let document: IssuerDocument;
  try {
    const withoutSeeds = JSON.stringify(JSON.parse(text, (name, value) => {
      if (name !== "keys" || !Array.isArray(value)) return value;
      return value.map(({ d, ...key }) => {
        const seed = typeof d === "string" ? decodeBase64url(d) : undefined;
        if (seed?.length === seedBytes) seeds.set(String(key.kid), seed);
        return key;
      });
    }));
    document = parseIssuerDocument(withoutSeeds, domain);
  } catch (error) {
    throw unusable(error instanceof WireError ? error.message : "it is not JSON");
  }
  for (const { kid, key } of document.keys) {
    const seed = seeds.get(kid);
    if (seed !== undefined && !equalBytes(ed25519.getPublicKey(seed), key)) {
      throw unusable(`the halves of key ${kid} do not belong together`);
    }
  }
  return { document, seeds };
}

export function formatIssuerKeys({ document, seeds }: IssuerKeys): string {
  const file = JSON.parse(formatIssuerDocument(document));
  for (const key of file.keys) {
    const seed = seeds.get(key.kid);
    if (seed !== undefined) key.d = encodeBase64url(seed);
  }
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** Another key of the domain, which the present one endorses. */
export function withNewKey(
  keys: IssuerKeys,
  { kid, seed }: { readonly kid: string; readonly seed: Uint8Array },
): IssuerKeys {
  const { domain, keys: before, closed } = keys.document;
  if (before.length === maxIssuerKeys) {
    throw badInput(
      `${domain} has ${maxIssuerKeys} keys already`,
      "Take one out that is closed, with: {} badge key close KID --take-out",
    );
  }
  const key = ed25519.getPublicKey(seed);
  const older = signerOf(keys);
  const endorsement = older && {
    by: older.kid,
    signature: ed25519.sign(badgeKeyStatement({ domain, key }), older.seed),
  };
  const added = { kid, key, ...(endorsement && { endorsement }) };
  return {
    document: { domain, closed, keys: [...before, added] },
    seeds: new Map(keys.seeds).set(kid, seed),
  };
}

/** Its private half goes with it when the key is taken out. */
export function withoutKey(
  { document, seeds }: IssuerKeys,
  kid: string,
  { takeOut }: { readonly takeOut: boolean },
): IssuerKeys {
  const closed = [...new Set([...document.closed, kid])];
  const keys = document.keys.filter((each) => !takeOut || each.kid !== kid);
  const kept = [...seeds].filter(([each]) => !takeOut || each !== kid);
  return { document: { ...document, closed, keys }, seeds: new Map(kept) };
}

/**
 * Signs a badge by the newest open key whose private half is here. Undefined when there is none.
 */
export function signBadge(
  keys: IssuerKeys,
  badge: Omit<UnsignedBadge, "domain" | "issuerKey">,
): Badge | undefined {
  const signer = signerOf(keys);
  if (signer === undefined) return undefined;
  const { domain } = keys.document;
  const unsigned = { ...badge, domain, issuerKey: ed25519.getPublicKey(signer.seed) };
  return { ...unsigned, signature: ed25519.sign(badgeStatement(unsigned), signer.seed) };
}

/** Whether something can be signed by these. */
export function hasSigner(keys: IssuerKeys): boolean {
  return signerOf(keys) !== undefined;
}

function signerOf(
  { document: { keys, closed }, seeds }: IssuerKeys,
): { readonly kid: string; readonly seed: Uint8Array } | undefined {
  const kid = keys.findLast((each) => !closed.includes(each.kid) && seeds.has(each.kid))?.kid;
  const seed = seeds.get(kid ?? "");
  return kid === undefined || seed === undefined ? undefined : { kid, seed };
}
