/** The admin port: metrics, in plain HTTP, for the operator's network only. */

export interface AdminServer {
  readonly url: string;
  close(): Promise<void>;
}

export interface AdminOptions {
  readonly host: string;
  readonly port: number;
  readonly renderMetrics: () => string;
}

export function serveAdmin({ host, port, renderMetrics }: AdminOptions): AdminServer {
  const server = Deno.serve({ hostname: host, port, onListen: () => {} }, (request) => {
    if (new URL(request.url).pathname !== "/metrics") return new Response("Not found\n", { status: 404 });
    return new Response(renderMetrics(), { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });
  });
  const name = host.includes(":") ? `[${host}]` : host;
  return { url: `http://${name}:${server.addr.port}`, close: () => server.shutdown() };
}
