/** Agents with hosts of their own below one folder, and how a test ends the hosts. */
import { connect } from "node:net";
import type { ConnectOptions } from "../../sdk/mod.ts";
import { HostConnection } from "../../sdk/testing/host.ts";
import type { SharedStack } from "./stack.ts";

export interface HostsPlace extends AsyncDisposable {
  readonly folder: string;
  options(identity: string): ConnectOptions;
}

export async function withHosts(
  { api, account, quicUrl, grpcUrl, caFile }: SharedStack,
): Promise<HostsPlace> {
  const folder = await Deno.makeTempDir({ prefix: "static-hosts-" });
  const identities = new Set<string>();
  return {
    folder,
    options: (identity) => {
      identities.add(identity);
      return {
        host: "auto",
        dataDir: `${folder}/${identity}`,
        identity,
        endpoint: `${quicUrl},${grpcUrl}`,
        apiUrl: api.url,
        apiKey: account.apiKey,
        tls: { caFile },
      };
    },
    [Symbol.asyncDispose]: async () => {
      const giveUpMs = performance.now() + maxEndMs;
      for (;;) {
        for (const identity of identities) await stopHost(`${folder}/${identity}`);
        try {
          return await Deno.remove(folder, { recursive: true });
        } catch (error) {
          // A host that was about to begin when its program was killed has written meanwhile.
          const isFilled = error instanceof Error && error.message.includes("not empty");
          if (!isFilled || performance.now() > giveUpMs) throw error;
        }
      }
    },
  };
}

/** A program that speaks frames itself; undefined when there is no host. */
export function openRaw(dataDir: string): Promise<HostConnection | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ path: `${dataDir}/host/socket` });
    const connection = new HostConnection({
      write: (bytes) => void socket.write(bytes),
      close: () => socket.destroy(),
    });
    socket.on("data", (chunk: Uint8Array) => connection.receive(chunk));
    socket.once("close", () => connection.end());
    socket.once("error", () => resolve(undefined));
    socket.once("connect", () => resolve(connection));
  });
}

/** A host waits five seconds for handlers, and for a relay that does not answer. */
const maxEndMs = 120_000;

/** Resolves when its process has ended. False when there was none. */
export async function stopHost(dataDir: string): Promise<boolean> {
  const connection = await openRaw(dataDir);
  if (connection === undefined) return false;
  const pid = (await connection.hello).number("pid");
  await connection.call("stop");
  await connection.over;
  await ended(pid);
  return true;
}

/** Throws when it does not end, with what it is about. */
export async function ended(pid: number): Promise<void> {
  const giveUpMs = performance.now() + maxEndMs;
  while (await Deno.stat(`/proc/${pid}`).then(() => true, () => false)) {
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => "Z");
    if (/\) Z/.test(stat)) return;
    if (performance.now() > giveUpMs) {
      throw new Error(`Process ${pid} has not ended: ${stat.slice(0, 60)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10)); // wait: for a process to end
  }
}
