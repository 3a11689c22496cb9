/**
 * Datagrams that the kernel dropped because the relay's receive buffer was full. Deno can neither
 * set that buffer nor count its drops, so they are read from the kernel's table of sockets, where
 * that is allowed (Linux, `--allow-all`).
 */

const tables = ["/proc/net/udp", "/proc/net/udp6"];

/** Undefined when this machine does not tell. */
export function readUdpDrops(port: number): number | undefined {
  try {
    return tables.reduce((sum, path) => sum + countUdpDrops(Deno.readTextFileSync(path), port), 0);
  } catch {
    return undefined;
  }
}

/** The last column of the sockets that are bound to the port. */
export function countUdpDrops(table: string, port: number): number {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return table.split("\n").map((line) => line.trim().split(/\s+/)).filter(([, local]) =>
    local?.endsWith(suffix)
  )
    .reduce((sum, columns) => sum + Number(columns.at(-1)), 0);
}
