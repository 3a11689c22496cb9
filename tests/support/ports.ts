/**
 * Ports for servers that are started again on the ports they had, or told to others before they
 * listen. They lie below those that systems hand out for connections, so nobody is given one of
 * them while nothing listens there.
 */

const [lowest, highest] = [12_000, 32_000];

/** Even, and free for TCP now with the port after each: metrics of a second part may be there. */
export function freePorts(count: number): number[] {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = lowest + 2 * Math.floor(Math.random() * (highest - lowest) / 2);
    if (isFree(port) && isFree(port + 1)) ports.add(port);
  }
  return [...ports];
}

export function freePort(): number {
  const [port] = freePorts(1);
  if (port === undefined) throw new Error("One port was asked for");
  return port;
}

function isFree(port: number): boolean {
  try {
    Deno.listen({ hostname: "::", port }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false;
    throw error;
  }
}
