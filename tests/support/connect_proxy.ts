/**
 * An HTTP proxy of a few lines: it opens tunnels (CONNECT) to this machine, and notes what it was
 * asked for. A place of the web, such as acme.com:443, may stand for a port of this machine.
 */

export interface ConnectProxy extends AsyncDisposable {
  readonly port: number;
  /** The first line of every request, with the credential behind it where one was given. */
  readonly asked: string[];
}

export function startConnectProxy(
  web: Readonly<Record<string, number>> = {},
): ConnectProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const asked: string[] = [];
  const open = new Set<Promise<void>>();
  const serving = (async () => {
    for await (const client of listener) {
      const served: Promise<void> = serve(client, asked, web).catch(() => {}).finally(() =>
        open.delete(served)
      );
      open.add(served);
    }
  })();
  return {
    port: listener.addr.port,
    asked,
    [Symbol.asyncDispose]: async () => {
      listener.close();
      await serving;
      await Promise.all(open);
    },
  };
}

async function serve(
  client: Deno.TcpConn,
  asked: string[],
  web: Readonly<Record<string, number>>,
): Promise<void> {
  using _client = client;
  const head = await readHead(client);
  const [line = ""] = head.split("\r\n");
  const credential = /^proxy-authorization: (.*)$/im.exec(head)?.[1];
  asked.push([line, ...(credential === undefined ? [] : [credential])].join(" "));
  const [, host, port] = /^CONNECT (.+):(\d+) HTTP\/1\.1$/.exec(line) ?? [];
  const here = host === "localhost" ? Number(port) : web[`${host}:${port}`];
  if (here === undefined) {
    return await write(client, "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
  }
  using server = await Deno.connect({ hostname: "localhost", port: here });
  await write(client, "HTTP/1.1 200 Connection established\r\n\r\n");
  const ways = [client.readable.pipeTo(server.writable), server.readable.pipeTo(client.writable)];
  await Promise.any(ways).catch(() => {});
}

/** Nothing of the tunnel comes before its answer. */
async function readHead(client: Deno.TcpConn): Promise<string> {
  const chunk = new Uint8Array(4096);
  let head = "";
  while (!head.endsWith("\r\n\r\n")) {
    const length = await client.read(chunk);
    if (length === null) break;
    head += new TextDecoder().decode(chunk.subarray(0, length));
  }
  return head;
}

async function write(client: Deno.TcpConn, text: string): Promise<void> {
  await client.write(new TextEncoder().encode(text));
}
