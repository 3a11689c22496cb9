/**
 * How many TCP connections this process can have, and whether its port still takes them. A process
 * that is out of files for a moment has a dead port for ever, without an event; so it never gets
 * there, and if it does, it ends and is started again.
 */
import { backlog, defaultBudgets } from "../../server/http2/mod.ts";
import { ListenerWatch, openFileLimit } from "../../server/mod.ts";

/**
 * Files kept for the engine, the log, questions to the API, and files that are opened for a moment.
 */
const minFilesKept = 64;
const fewestConnections = 16;

/** Call it before anything else is opened. */
export function connectionLimit(dataDir: string): number {
  const limit = openFileLimit({ atMost: 2 * defaultBudgets.connections, path: dataDir });
  const kept = 2 * backlog + Math.max(minFilesKept, Math.ceil(limit / 8));
  return Math.max(fewestConnections, Math.min(defaultBudgets.connections, limit - kept));
}

export interface PortWatch {
  accepted(): void;
  stop(): void;
}

/** Without the permission to connect to the port it watches nothing. */
export function watchPort(
  { host, port }: { host: string; port: number },
  onDead: (error: Error) => void,
): PortWatch {
  const name = ["::", "[::]"].includes(host) ? "[::1]" : host === "0.0.0.0" ? "127.0.0.1" : host;
  const { state } = Deno.permissions.querySync({ name: "net", host: `${name}:${port}` });
  if (state !== "granted") return { accepted: () => {}, stop: () => {} };
  return new ListenerWatch({
    host,
    port,
    onDead: () =>
      onDead(
        new Error(
          `The gRPC port ${port} accepts no more connections; the relay must be started again`,
        ),
      ),
  });
}
