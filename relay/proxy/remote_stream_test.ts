/** Nothing that waits for a remote relay waits for longer than the connection to it can live. */
import { assertEquals, assertRejects } from "@std/assert";
import { errorCodes } from "../../proto/mod.ts";
import { createCertificate } from "../../tests/support/mod.ts";
import type { EndReason } from "../core/client_link.ts";
import { ProxiedStream, type RemoteRelay } from "./remote_stream.ts";

const certificate = await createCertificate();

/** A relay of which only the connection matters. */
async function withRelay(
  serve: (conn: Deno.QuicConn) => Promise<void>,
  run: (relay: RemoteRelay) => Promise<void>,
): Promise<void> {
  const endpoint = new Deno.QuicEndpoint({ hostname: "127.0.0.1", port: 0 });
  const listener = endpoint.listen({ ...certificate, alpnProtocols: ["static-relay/1"] });
  const serving = listener.incoming().then((incoming) => incoming.accept()).then(async (conn) => {
    conn.closed.catch(() => {});
    await serve(conn);
    await conn.closed.catch(() => {});
  });
  try {
    await run({ hostname: "localhost", port: endpoint.addr.port, caCerts: [certificate.cert] });
    await serving;
  } finally {
    listener.stop();
    endpoint.close({ closeCode: 0, reason: "" });
  }
}

Deno.test("what waits to be written when its client leaves is refused, also before there is a connection", () =>
  withRelay(() => Promise.resolve(), async (relay) => {
    const stream = new ProxiedStream(relay, { receive: () => undefined, ended: () => {} });
    const written = stream.write(new Uint8Array(1));
    stream.close();
    await assertRejects(() => written, Error);
  }));

Deno.test("a relay that ends the connection is heard although nobody takes what it sent before", () => {
  const received = Promise.withResolvers<void>();
  const serve = async (conn: Deno.QuicConn): Promise<void> => {
    const { value: stream } = await conn.incomingBidirectionalStreams.getReader().read();
    await stream?.writable.getWriter().write(new Uint8Array(10));
    await received.promise;
    conn.close({ closeCode: errorCodes.slow_reader.close, reason: "slow_reader" });
  };
  return withRelay(serve, async (relay) => {
    const ended = Promise.withResolvers<EndReason | undefined>();
    const receive = (): Promise<void> => {
      received.resolve();
      return new Promise(() => {});
    };
    const stream = new ProxiedStream(relay, { receive, ended: ended.resolve });
    await stream.write(new Uint8Array(1));
    assertEquals((await ended.promise)?.code, "slow_reader");
  });
});
