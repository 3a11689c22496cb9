/**
 * Strangers at every port: noise, endless requests, and connections that are opened and then say
 * almost nothing.
 */
import type { Random } from "../support/mod.ts";

const datagrams = 3_000;
const noisy = 20;
const silent = 60;
const noiseBytes = 64 * 1024;

export interface Ports {
  readonly tcp: readonly number[];
  readonly udp: readonly number[];
}

/** Makes noise on all ports, then runs `meanwhile` with the silent connections still open. */
export async function vandalize(
  { tcp, udp }: Ports,
  random: Random,
  meanwhile: () => Promise<void>,
): Promise<void> {
  const held: Deno.TcpConn[] = [];
  try {
    for (const port of udp) await floodDatagrams(port, random);
    for (const port of tcp) {
      for (let opened = 0; opened < silent; opened++) held.push(await openSilently(port, opened));
      await Promise.all(Array.from({ length: noisy }, () => makeNoise(port, random)));
    }
    await meanwhile();
  } finally {
    for (const connection of held) connection.close();
  }
}

async function floodDatagrams(port: number, random: Random): Promise<void> {
  const socket = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
  for (let sent = 0; sent < datagrams; sent++) {
    const datagram = random.bytes(1 + random.below(1_400));
    // Half of them look like the first packet of a connection.
    if (sent % 2 === 0) datagram.set([0xc3, 0, 0, 0, 1].slice(0, datagram.length));
    await socket.send(datagram, { transport: "udp", hostname: "127.0.0.1", port });
  }
  socket.close();
}

/** The beginning of a TLS handshake or of a request, or nothing; then silence. */
async function openSilently(port: number, number: number): Promise<Deno.TcpConn> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const beginnings = [
    [],
    [0x16, 3, 1, 2, 0, 1],
    new TextEncoder().encode("GET /health HTTP/1.1\r\nx-slow: "),
  ];
  await connection.write(Uint8Array.from(beginnings[number % beginnings.length] ?? [])).catch(
    () => {},
  );
  return connection;
}

async function makeNoise(port: number, random: Random): Promise<void> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  // The other side may close before it has read all of it.
  await connection.write(random.bytes(noiseBytes)).catch(() => {});
}
