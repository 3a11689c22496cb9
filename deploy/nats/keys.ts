/**
 * Keys of a cluster, in a folder for each machine: a certificate for each node, which it shows to
 * relays and to the other nodes, and the account with which relays come. The folder `authority` is
 * for no machine of the service: with it more keys are made for the same account, and the log
 * belongs to the account.
 */
import {
  createNodeAuthority,
  createNodeCertificate,
  type KeyedCertificate,
  writeOwned,
} from "../../server/mod.ts";
import {
  accountSettings,
  createCredentials,
  createNatsAccount,
  issueUser,
  type NatsAccount,
  revokeUsers,
} from "./account.ts";
import { makeFolderAtOnce } from "./whole_folder.ts";

/** Names of the files in a node's folder. */
export const nodeFiles = {
  ca: "ca.pem",
  cert: "node.pem",
  key: "node.key",
  accounts: "accounts.conf",
} as const;

/** Names of the files in the folder `relay`, which is for every relay. */
export const relayFiles = { ca: "nats_ca.pem", credentials: "relay.creds" } as const;

/** Names of the files in the folder `authority`. */
export const authorityFiles = { ca: "ca.pem", key: "ca.key", account: "account.json" } as const;

/** A node's names, hosts or IPv4 addresses. The first is that of its folder. */
export type NodeNames = readonly [string, ...string[]];

/** Signs the keys of one cluster. */
interface Authority {
  readonly certificate: KeyedCertificate;
  readonly account: NatsAccount;
}

interface MoreKeys {
  /** The folder `authority` of the cluster. */
  readonly authority: string;
  /** Nodes that have the new settings refuse the credentials that were made before. */
  readonly revoke?: boolean;
}

type KeyFiles = Readonly<Record<string, string>>;

const host = /^[a-z\d]([a-z\d.-]{0,251}[a-z\d])?$/i;
const address = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const ownFolders = ["relay", "authority"];

/**
 * Makes the folder for a new cluster, whole or not at all. Throws `Deno.errors.AlreadyExists`. Only
 * this user may read it.
 */
export async function writeNatsKeys(
  folder: string,
  nodes: readonly NodeNames[],
  nowMs: number,
): Promise<void> {
  const authority = {
    certificate: await createNodeAuthority(nowMs),
    account: createNatsAccount(nowMs),
  };
  const { certificate: { cert, key }, account } = authority;
  const { ca: caFile, key: keyFile, account: accountFile } = authorityFiles;
  await makeFolderAtOnce(folder, {
    ...await machineFiles(authority, nodes, nowMs),
    authority: {
      [caFile]: cert,
      [keyFile]: key,
      [accountFile]: `${JSON.stringify(account, undefined, 2)}\n`,
    },
  });
}

/**
 * Makes a folder with more keys of a cluster: of these nodes, and new credentials for relays.
 * Otherwise as the one before.
 */
export async function addNatsKeys(
  folder: string,
  nodes: readonly NodeNames[],
  { authority: from, revoke = false }: MoreKeys,
  nowMs: number,
): Promise<void> {
  const read = (name: string): Promise<string> => Deno.readTextFile(`${from}/${name}`);
  const certificate = { cert: await read(authorityFiles.ca), key: await read(authorityFiles.key) };
  const before: NatsAccount = JSON.parse(await read(authorityFiles.account));
  if (!Number.isSafeInteger(before.issuedMs)) {
    throw new Error(
      `${from}/${authorityFiles.account} does not say when its newest credentials were made (issuedMs)`,
    );
  }
  const account = issueUser(revoke ? revokeUsers(before, nowMs) : before, nowMs);
  const files = await machineFiles({ certificate, account }, nodes, nowMs);
  await makeFolderAtOnce(folder, files, async () => {
    // Before the folder is there: settings without the revocation, for a node that comes later,
    // would let the revoked in.
    await writeOwned(
      `${from}/${authorityFiles.account}`,
      `${JSON.stringify(account, undefined, 2)}\n`,
    );
  });
}

/** Why these cannot be nodes; undefined when they can. */
export function problemWith(nodes: readonly NodeNames[]): string | undefined {
  const names = nodes.flat();
  const seen = new Set<string>();
  for (const name of names) {
    const isName = /^[\d.]+$/.test(name) ? address.test(name) : host.test(name);
    if (!isName) {
      return `"${name}" cannot be the name of a node: give a host name or an IPv4 address`;
    }
    if (seen.has(name.toLowerCase())) return `"${name}" is named twice`;
    seen.add(name.toLowerCase());
  }
  const taken = nodes.find(([first]) => ownFolders.includes(first.toLowerCase()))?.[0];
  return taken && `"${taken}" cannot be the name of a node: a folder of other keys is called so`;
}

/** Files by their names, by the folders of machines. */
async function machineFiles(
  { certificate, account }: Authority,
  nodes: readonly NodeNames[],
  nowMs: number,
): Promise<Record<string, KeyFiles>> {
  const { cert: ca } = certificate;
  const accounts = accountSettings(account);
  const folders: Record<string, KeyFiles> = {
    relay: { [relayFiles.ca]: ca, [relayFiles.credentials]: createCredentials(account) },
  };
  for (const names of nodes) {
    const { cert, key } = await createNodeCertificate(certificate, names, nowMs);
    const { ca: caFile, cert: certFile, key: keyFile, accounts: accountsFile } = nodeFiles;
    folders[names[0]] = {
      [caFile]: ca,
      [certFile]: cert,
      [keyFile]: key,
      [accountsFile]: accounts,
    };
  }
  return folders;
}
