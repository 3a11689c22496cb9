/**
 * Looks whether ports are free before anything is started: making the database takes long, and whoever has to change one port
 * wants to hear of all of them. A port that is taken a moment later is still told by the part itself, in the same words.
 */

export interface WantedPort {
  readonly hostname: string;
  /** 0 is whatever the system chooses. */
  readonly port: number;
  readonly transport: "tcp" | "udp";
  /** Chooses another one. */
  readonly variable: string;
}

export class PortsTaken extends Error {
  override readonly name = "PortsTaken";
}

/** Throws what names every port that is taken. */
export function checkPorts(wanted: readonly WantedPort[]): void {
  const taken = wanted.filter(({ port }) => port !== 0).filter(isTaken);
  if (taken.length === 0) return;
  const lines = taken.map(({ port, variable }) =>
    `Cannot listen: port ${port} is taken. Stop what uses it, or set ${variable} to another port`
  );
  throw new PortsTaken(lines.join("\n"));
}

/** What else may be wrong with an address is for the part to tell. */
function isTaken({ hostname, port, transport }: WantedPort): boolean {
  try {
    if (transport === "tcp") Deno.listen({ hostname, port }).close();
    else Deno.listenDatagram({ hostname, port, transport }).close();
    return false;
  } catch (error) {
    return error instanceof Deno.errors.AddrInUse;
  }
}
