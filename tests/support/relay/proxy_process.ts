/** The stand-alone proxy with the permissions of its task, in front of a relay. */
import { createCertificate, type TestCertificate } from "../mod.ts";
import { type PartProcess, spawnPart, untilListening } from "../part_process.ts";

export interface ProxyProcess extends AsyncDisposable {
  readonly process: PartProcess;
  readonly port: number;
  readonly certificate: TestCertificate;
  readonly certFile: string;
  /** Reads the certificate files again. */
  reload(renewed: TestCertificate): Promise<void>;
}

export async function startProxyProcess(
  relay: { quicPort: number; ca: string },
): Promise<ProxyProcess> {
  const certificate = await createCertificate();
  const folder = await Deno.makeTempDir({ prefix: "static-proxy-" });
  const [certFile, keyFile, caFile] = [
    `${folder}/cert.pem`,
    `${folder}/key.pem`,
    `${folder}/ca.pem`,
  ];
  const write = async ({ cert, key }: TestCertificate): Promise<void> => {
    await Deno.writeTextFile(certFile, cert);
    await Deno.writeTextFile(keyFile, key, { mode: 0o600 });
  };
  await write(certificate);
  await Deno.writeTextFile(caFile, relay.ca);
  const { tasks } = JSON.parse(
    await Deno.readTextFile(new URL("../../../deno.json", import.meta.url)),
  );
  const [, ...args] = String(tasks.proxy).split("&& ").at(-1)?.split(" ") ?? [];
  const process = spawnPart(args, {
    STATIC_RELAY_URL: `quic://localhost:${relay.quicPort}`,
    STATIC_CA_FILE: caFile,
    STATIC_RELAY_GRPC_PORT: "0",
    STATIC_TLS_CERT: certFile,
    STATIC_TLS_KEY: keyFile,
  });
  const { port } = await untilListening(process);
  return {
    process,
    port: Number(port),
    certificate,
    certFile,
    reload: async (renewed) => {
      await write(renewed);
      process.signal("SIGHUP");
    },
    [Symbol.asyncDispose]: async () => {
      process.signal("SIGTERM");
      const code = await process.finished();
      await Deno.remove(folder, { recursive: true });
      if (code !== 0) throw new Error(`The proxy ended with code ${code}: ${process.output()}`);
    },
  };
}
