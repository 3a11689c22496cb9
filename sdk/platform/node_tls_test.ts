import { createServer } from "node:tls";
import type { AddressInfo } from "node:net";
import { assert } from "@std/assert";
import { createCertificate } from "../../tests/support/mod.ts";
import { connectTls } from "./node_tls.ts";

Deno.test("a connection to a relay has an owner for its errors from its first moment to its last", async () => {
  const certificate = await createCertificate();
  const server = createServer(
    { ...certificate, ALPNProtocols: ["h2"] },
    (socket) => socket.on("error", () => {}),
  );
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo; // cast: it listens on a port
  const trust = { caCerts: [certificate.cert], certificateHashes: [] };
  const socket = await connectTls(
    { host: "localhost", port, trust },
    "h2",
    new AbortController().signal,
  );
  const closed = new Promise((resolve) => socket.once("close", resolve));
  // Nobody has taken it yet.
  for (let i = 0; i < 3; i++) {
    socket.emit("error", Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }));
  }
  await closed;
  assert(socket.destroyed);
  await new Promise<void>((resolve) => void server.close(() => resolve()));
});
