/** A QUIC connection with one stream, as the load needs it. */
import type { LoadStream } from "./load.ts";

export async function connectQuic(port: number, cert: string): Promise<LoadStream> {
  const connection = await Deno.connectQuic({
    hostname: "localhost",
    port,
    caCerts: [cert],
    alpnProtocols: ["static-relay/1"],
    keepAliveInterval: 12_000,
  });
  connection.closed.catch(() => {});
  const { readable, writable } = await connection.createBidirectionalStream();
  const writer = writable.getWriter();
  const reader = readable.getReader({ mode: "byob" });
  return {
    read: async (onChunk) => {
      let buffer = new ArrayBuffer(64 * 1024);
      for (;;) {
        const { value } = await reader.read(new Uint8Array(buffer));
        if (value === undefined || value.length === 0) return;
        onChunk(value);
        buffer = value.buffer;
      }
    },
    write: (cells) => writer.write(cells),
    close: () => connection.close(),
  };
}
