/**
 * Serves the page on loopback, bundled for browsers, together with the addresses and the key of
 * this user: for trying it out, not for the public.
 *
 *   deno run -A examples/page/serve.ts
 */
const folder = new URL("./", import.meta.url);
const root = new URL("../../", folder);
const port = Number(Deno.args[0] ?? 8000);

/** The project's own imports, with the browser's platform. */
async function bundlePage(): Promise<Uint8Array<ArrayBuffer>> {
  const config: { imports: Record<string, string> } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  const ours = { "#platform": "./sdk/platform/browser.ts", "#hosts": "./sdk/host/no_hosts.ts" };
  const imports = Object.entries({ ...config.imports, ...ours }).flatMap((
    [name, target],
  ) =>
    target.startsWith("npm:")
      ? [[name, target], [`${name}/`, target.replace("npm:", "npm:/") + "/"]]
      : [[name, new URL(target, root).href]]
  );
  const map = await Deno.makeTempFile({ suffix: ".json" });
  await Deno.writeTextFile(map, JSON.stringify({ imports: Object.fromEntries(imports) }));
  const page = new URL("page.mjs", folder).pathname;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--platform", "browser", "--import-map", map, page],
  }).output();
  await Deno.remove(map);
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return stdout;
}

/** Browsers take a relay of one's own machine by the hash of its certificate. */
async function settings(): Promise<Record<string, unknown>> {
  const data = Deno.env.get("STATIC_DATA_DIR") ?? ".static";
  const pem = await Deno.readTextFile(`${data}/relay_certificate.pem`);
  const [, base64 = ""] = /-----BEGIN CERTIFICATE-----([^-]+)/.exec(pem) ?? [];
  const der = Uint8Array.fromBase64(base64.replace(/\s/g, ""));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", der)).toHex();
  const relay = Deno.env.get("STATIC_RELAY_URL") ?? "quic://localhost:4433";
  return {
    endpoint: relay.split(",")[0],
    apiUrl: Deno.env.get("STATIC_API_URL") ?? "http://127.0.0.1:8080",
    apiKey: Deno.env.get("STATIC_API_KEY") ?? await savedKey(),
    tls: { certificateHashes: [hash] },
  };
}

async function savedKey(): Promise<string> {
  const folder = Deno.env.get("XDG_CONFIG_HOME") ?? `${Deno.env.get("HOME")}/.config`;
  return JSON.parse(await Deno.readTextFile(`${folder}/static/credentials.json`)).api_key;
}

const [html, code] = [await Deno.readFile(new URL("index.html", folder)), await bundlePage()];
const listen = {
  hostname: "127.0.0.1",
  port,
  onListen: ({ port }: Deno.NetAddr) => console.log(`Open http://127.0.0.1:${port}/`),
};
Deno.serve(listen, async (request) => {
  const { pathname } = new URL(request.url);
  if (pathname === "/page.mjs") {
    return new Response(code, { headers: { "content-type": "text/javascript" } });
  }
  if (pathname === "/settings.json") return Response.json(await settings());
  return new Response(pathname === "/" ? html : "", {
    headers: { "content-type": "text/html; charset=utf-8" },
  });
});
