import {
  assert,
  assertEquals,
  assertGreater,
  assertLessOrEqual,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import { X509Certificate } from "node:crypto";
import { createServer } from "node:https";
import { createCertificate, installed, runCommand, testWhen } from "../tests/support/mod.ts";
import { openCertificate, openDevelopmentCertificate } from "./certificate.ts";
import { createServerCertificate, type KeyedCertificate } from "./x509.ts";

const dayMs = 86_400_000;

async function inFolder(run: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await Deno.makeTempDir({ prefix: "static-certificate-" });
  try {
    await run(dataDir);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

/**
 * Whether a TLS client that trusts only this authority reaches a server with this certificate under
 * a name.
 */
async function isTrusted(pair: KeyedCertificate, ca: string, name: string): Promise<boolean> {
  const server = createServer(
    { ...pair, minVersion: "TLSv1.3" },
    (_, response) => response.end("ok"),
  );
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, "::", resolve);
  await listening;
  const address = server.address();
  assert(typeof address === "object" && address !== null);
  using client = Deno.createHttpClient({ caCerts: [ca] });
  try {
    return await (await fetch(`https://${name}:${address.port}`, { client })).text() === "ok";
  } catch {
    return false;
  } finally {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    server.closeAllConnections();
    await closed;
  }
}

Deno.test("the development certificate is an end-entity for loopback, of at most 14 days, signed by the authority", () =>
  inFolder(async (dataDir) => {
    const { current, caFile } = await openDevelopmentCertificate({ dataDir, nowMs: Date.now });
    assertEquals(caFile, `${dataDir}/ca.pem`);
    const ca = await Deno.readTextFile(`${dataDir}/ca.pem`);
    const [leaf, authority] = [new X509Certificate(current.cert), new X509Certificate(ca)];
    assertEquals([leaf.ca, authority.ca], [false, true]);
    assertLessOrEqual(Date.parse(leaf.validTo) - Date.parse(leaf.validFrom), 14 * dayMs);
    assertGreater(Date.parse(leaf.validTo), Date.now() + 12 * dayMs);
    assert(leaf.verify(authority.publicKey));
    for (const name of ["localhost", "127.0.0.1", "[::1]"]) {
      assert(await isTrusted(current, ca, name), name);
    }
    for (const secret of ["ca_key.pem", "relay_certificate.pem"]) {
      assertEquals(((await Deno.stat(`${dataDir}/${secret}`)).mode ?? 0) & 0o777, 0o600, secret);
    }
    assert(!ca.includes("PRIVATE"));
  }));

testWhen(
  installed("openssl"),
  "openssl accepts the chain, and nothing else that the authority might sign",
  () =>
    inFolder(async (dataDir) => {
      const { current } = await openDevelopmentCertificate({ dataDir, nowMs: Date.now });
      await Deno.writeTextFile(`${dataDir}/leaf.pem`, current.cert);
      const verify = (...more: string[]): Promise<string> =>
        runCommand("openssl", [
          "verify",
          "-x509_strict",
          "-CAfile",
          `${dataDir}/ca.pem`,
          ...more,
          `${dataDir}/leaf.pem`,
        ], {
          mayFail: true,
        });
      for (
        const name of [["-verify_hostname", "localhost"], ["-verify_ip", "127.0.0.1"], [
          "-verify_ip",
          "::1",
        ]]
      ) {
        assertEquals(await verify(...name, "-purpose", "sslserver"), `${dataDir}/leaf.pem: OK\n`);
      }

      const request = [
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-subj",
        "/CN=evil",
      ];
      const signed = [
        "-x509",
        "-CA",
        `${dataDir}/ca.pem`,
        "-CAkey",
        `${dataDir}/ca_key.pem`,
        "-days",
        "1",
      ];
      const files = [
        "-addext",
        "subjectAltName=DNS:bank.example",
        "-keyout",
        `${dataDir}/k`,
        "-out",
        `${dataDir}/leaf.pem`,
      ];
      await runCommand("openssl", [...request, ...signed, ...files]);
      assert((await verify()).includes("permitted subtree violation"), await verify());
    }),
);

Deno.test("a start keeps the certificate, its last days bring another from the same authority", () =>
  inFolder(async (dataDir) => {
    const clock = { nowMs: Date.now() };
    const open = () => openDevelopmentCertificate({ dataDir, nowMs: () => clock.nowMs });
    const source = await open();
    const [first, ca] = [source.current, await Deno.readTextFile(`${dataDir}/ca.pem`)];
    assertEquals((await open()).current, first);
    clock.nowMs += 9 * dayMs;
    assertEquals(await source.check(), undefined);
    clock.nowMs += 1.5 * dayMs;
    const renewed = await source.check();
    assert(renewed !== undefined);
    assertNotEquals(renewed.key, first.key);
    assertEquals([source.current, (await open()).current], [renewed, renewed]);
    assertEquals(await Deno.readTextFile(`${dataDir}/ca.pem`), ca);
    assertGreater(source.expiresAtMs, clock.nowMs + 12 * dayMs);

    clock.nowMs += 330 * dayMs;
    await source.check();
    assertNotEquals(
      await Deno.readTextFile(`${dataDir}/ca.pem`),
      ca,
      "an authority near its end is replaced",
    );
  }));

Deno.test("damaged, mixed up or foreign files of the data directory are replaced", () =>
  inFolder(async (dataDir) => {
    const open = () => openDevelopmentCertificate({ dataDir, nowMs: Date.now });
    const path = `${dataDir}/relay_certificate.pem`;
    const { current } = await open();
    const other = await createCertificate();
    const damaged = ["", "garbage", current.cert, current.cert + other.key, other.cert + other.key];
    for (const text of damaged) {
      await Deno.writeTextFile(path, text);
      const ca = await Deno.readTextFile(`${dataDir}/ca.pem`);
      assert(await isTrusted((await open()).current, ca, "localhost"), text.slice(0, 40));
    }
  }));

Deno.test("configured files are taken when they change, and kept out while they do not fit together", () =>
  inFolder(async (dataDir) => {
    const files = { certFile: `${dataDir}/cert.pem`, keyFile: `${dataDir}/key.pem` };
    const write = async ({ cert, key }: KeyedCertificate): Promise<void> => {
      await Deno.writeTextFile(files.certFile, cert);
      await Deno.writeTextFile(files.keyFile, key);
    };
    const [first, second] = [await createCertificate(), await createCertificate()];
    await write(first);
    const source = await openCertificate(files);
    assertEquals([source.current, source.caFile, await source.check()], [
      first,
      undefined,
      undefined,
    ]);
    await Deno.writeTextFile(files.certFile, second.cert);
    const error = await assertRejects(
      () => source.check(),
      Error,
      "are not a certificate and its private key",
    );
    assert(!error.message.includes(second.key.slice(40, 60)));
    assertEquals(source.current, first);
    await write(second);
    assertEquals(await source.check(), second);
    await Deno.remove(files.keyFile);
    await assertRejects(() => source.check(), Deno.errors.NotFound);
    assertEquals(source.current, second);
  }));

Deno.test("a server certificate cannot sign for others", () =>
  inFolder(async (dataDir) => {
    const { current } = await openDevelopmentCertificate({ dataDir, nowMs: Date.now });
    const ca = await Deno.readTextFile(`${dataDir}/ca.pem`);
    const forged = await createServerCertificate(current, Date.now());
    assert(
      !await isTrusted({ cert: forged.cert + current.cert, key: forged.key }, ca, "localhost"),
    );
  }));
