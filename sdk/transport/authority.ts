/** The host and port of a URL, and of the field `:authority`. */
import type { Target } from "./transport.ts";

export function authorityOf({ host, port }: Pick<Target, "host" | "port">): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
