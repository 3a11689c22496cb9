/**
 * Looks whether ports are free before anything is started: making the database takes long, and a
 * user who has to change one port wants to hear of all of them. A port that is taken a moment later
 * is still told by the part itself, in the same words.
 */
import { addressesOf } from "../../server/http2/mod.ts";
import { type ConfiguredPort, PortTaken } from "../../server/mod.ts";

/** Port 0 lets the system choose. */
export interface WantedPort extends ConfiguredPort {
  readonly hostname: string;
  readonly transport: "tcp" | "udp";
}

/** Throws `PortTaken`, which names every port that is taken. */
export function checkPorts(wanted: readonly WantedPort[]): void {
  const taken = wanted.filter(({ port }) => port !== 0).filter(isTaken);
  if (taken.length > 0) throw new PortTaken(taken);
}

/** The part itself reports everything else that may be wrong with an address. */
function isTaken({ hostname, port, transport }: WantedPort): boolean {
  try {
    for (const address of addressesOf(hostname)) {
      if (transport === "tcp") Deno.listen({ hostname: address, port }).close();
      else Deno.listenDatagram({ hostname: address, port, transport }).close();
    }
    return false;
  } catch (error) {
    return error instanceof Deno.errors.AddrInUse;
  }
}
