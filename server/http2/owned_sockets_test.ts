// Sockets break at their worst moment: when the server has just been told of them. An error without
// an owner fails the test.
import type { Socket } from "node:net";
import { createCertificate } from "../../tests/support/mod.ts";
import { createTlsServer, listen, takeSockets, type TlsServer } from "./mod.ts";

const breakOff = (socket: Socket): void => void socket.destroy(new Error("reset by its client"));

/** Resolves when the server has let go of a client's socket. */
async function visit(server: TlsServer): Promise<void> {
  const listening = await listen(server, { hostname: "127.0.0.1", port: 0 });
  const client = await Deno.connect({ hostname: "127.0.0.1", port: listening.port });
  await client.readable.pipeTo(new WritableStream());
  await listening.close();
}

Deno.test("sockets of createTlsServer have an owner, whether somebody takes them or not", async () => {
  const make = async (): Promise<TlsServer> => createTlsServer(await createCertificate());
  const untaken = await make();
  untaken.on("connection", breakOff);
  await visit(untaken);
  const taken = await make();
  takeSockets(taken, breakOff);
  await visit(taken);
  const handedOver = await make();
  const handOver = takeSockets(handedOver, (socket) => {
    handOver(socket);
    breakOff(socket);
  });
  await visit(handedOver);
});
