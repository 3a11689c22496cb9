/**
 * Keys of a cluster, in a folder for each machine: a certificate for each node, which it shows to relays and to the other nodes,
 * and the account with which relays come. The keys of the authority and of the account's operator are kept nowhere: they vouch for
 * these and for nothing else.
 */
import { createNodeCertificates } from "../../server/mod.ts";
import { createNatsAccount } from "./account.ts";

/** Names of the files in a node's folder. */
export const nodeFiles = { ca: "ca.pem", cert: "node.pem", key: "node.key", accounts: "accounts.conf" } as const;

/** Names of the files in the folder `relay`, which is for every relay. */
export const relayFiles = { ca: "nats_ca.pem", credentials: "relay.creds" } as const;

/** A node's names, hosts or IPv4 addresses. The first is that of its folder. */
export type NodeNames = readonly [string, ...string[]];

/** Makes the folder, whole or not at all. Throws `Deno.errors.AlreadyExists` when something is there. Only this user may read it. */
export async function writeNatsKeys(folder: string, nodes: readonly NodeNames[], nowMs: number): Promise<void> {
  if (await exists(folder)) throw new Deno.errors.AlreadyExists(`${folder} exists`);
  const account = createNatsAccount(nowMs);
  const { ca, nodes: certificates } = await createNodeCertificates(nodes, nowMs);
  const making = `${folder}.${crypto.randomUUID()}.new`;
  const write = async (machine: string, files: Readonly<Record<string, string>>): Promise<void> => {
    await Deno.mkdir(`${making}/${machine}`, { recursive: true, mode: 0o700 });
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${making}/${machine}/${name}`, text, { mode: 0o600 });
    }
  };
  for (const [index, [name]] of nodes.entries()) {
    const { cert = "", key = "" } = certificates[index] ?? {};
    const { settings } = account;
    await write(name, {
      [nodeFiles.ca]: ca,
      [nodeFiles.cert]: cert,
      [nodeFiles.key]: key,
      [nodeFiles.accounts]: settings,
    });
  }
  await write("relay", { [relayFiles.ca]: ca, [relayFiles.credentials]: account.credentials });
  await Deno.rename(making, folder);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
