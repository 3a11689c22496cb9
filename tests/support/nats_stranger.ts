/** Somebody on the machine who has no key of the nodes, and tries their ports. */

const hello =
  `CONNECT {"verbose":true,"pedantic":false,"lang":"stranger","version":"1"}\r\nPING\r\n`;
/** A node that says nothing to a stranger has not let it in. */
const silenceMs = 10_000;

export interface Knock {
  /** For clients, which are greeted before TLS begins, or for other nodes. */
  readonly at: "client" | "route";
  /** The nodes' authority, which is no secret: with it the stranger speaks TLS. */
  readonly ca?: string;
}

/**
 * Presents itself, and returns what the node says then; the text of the error when the connection
 * breaks.
 */
export async function presentAt(port: number, { at, ca }: Knock): Promise<string> {
  let conn: Deno.Conn = await Deno.connect({ hostname: "127.0.0.1", port });
  const timer = setTimeout(() => conn.close(), silenceMs);
  try {
    const greeting = at === "client" ? await readFrom(conn) : "INFO";
    if (!greeting.startsWith("INFO")) throw new Error(`Port ${port} is not a node's: ${greeting}`);
    if (ca !== undefined) {
      // cast: it is one until now
      conn = await Deno.startTls(conn as Deno.TcpConn, { hostname: "localhost", caCerts: [ca] });
    }
    await conn.write(new TextEncoder().encode(hello));
    let said = "";
    for (let more = await readFrom(conn); more !== ""; more = await readFrom(conn)) {
      said += more;
      if (/PONG|-ERR/.test(said)) break;
    }
    return said;
  } catch (error) {
    return String(error);
  } finally {
    clearTimeout(timer);
    try {
      conn.close();
    } catch {
      // It was closed for its silence.
    }
  }
}

/** Whether a node has let somebody in that was told this. */
export function isLetIn(said: string): boolean {
  return /PONG|\+OK|^INFO/m.test(said);
}

async function readFrom(conn: Deno.Conn): Promise<string> {
  const buffer = new Uint8Array(16_384);
  const length = await conn.read(buffer);
  return length === null ? "" : new TextDecoder().decode(buffer.subarray(0, length));
}
