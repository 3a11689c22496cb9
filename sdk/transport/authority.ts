/** The host and port of a URL, and of the field `:authority`. */
import type { ConnectTarget } from "./transport.ts";

export function authorityOf({ host, port }: Pick<ConnectTarget, "host" | "port">): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
