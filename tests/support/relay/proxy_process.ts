/** The stand-alone proxy as its task starts it, in front of a relay. */
import { createCertificate, type TestCertificate } from "../support/mod.ts";
import { linesOf } from "../support/http2/server_process.ts";

export interface ProxyProcess extends AsyncDisposable {
  readonly port: number;
  readonly certificate: TestCertificate;
  readonly certFile: string;
  /** Reads the certificate files again. */
  reload(renewed: TestCertificate): Promise<void>;
}

export async function startProxyProcess(relay: { quicPort: number; ca: string }): Promise<ProxyProcess> {
  const certificate = await createCertificate();
  const folder = await Deno.makeTempDir({ prefix: "static-proxy-" });
  const [certFile, keyFile, caFile] = ["cert.pem", "key.pem", "ca.pem"].map((name) => `${folder}/${name}`);
  if (certFile === undefined || keyFile === undefined || caFile === undefined) throw new Error("three files");
  const write = async ({ cert, key }: TestCertificate): Promise<void> => {
    await Deno.writeTextFile(certFile, cert);
    await Deno.writeTextFile(keyFile, key, { mode: 0o600 });
  };
  await write(certificate);
  await Deno.writeTextFile(caFile, relay.ca);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "proxy"],
    env: {
      STATIC_RELAY_URL: `quic://localhost:${relay.quicPort}`,
      STATIC_CA_FILE: caFile,
      STATIC_PROXY_PORT: "0",
      STATIC_TLS_CERT: certFile,
      STATIC_TLS_KEY: keyFile,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = linesOf(child.stdout);
  const port = await portFrom(lines);
  return {
    port,
    certificate,
    certFile,
    reload: async (renewed) => {
      await write(renewed);
      child.kill("SIGHUP");
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      const { code } = await child.status;
      await lines.return(undefined);
      await Deno.remove(folder, { recursive: true });
      if (code !== 0) throw new Error(`The proxy ended with code ${code}`);
    },
  };
}

/** Its configuration comes first. */
async function portFrom(lines: AsyncGenerator<string>): Promise<number> {
  for (;;) {
    const { done, value } = await lines.next();
    if (done) throw new Error("The proxy ended before it listened");
    const { event, port } = JSON.parse(value);
    if (event === "listening") return port;
  }
}
