import { assertEquals, assertRejects } from "@std/assert";
import { createCertificate } from "../../tests/support/mod.ts";
import { StaticError } from "../base/errors.ts";
import { readTlsOptions, type TlsOptions } from "./tls_options.ts";

const { cert } = await createCertificate();

function read(tls: TlsOptions): ReturnType<typeof readTlsOptions> {
  return readTlsOptions(
    tls,
    (path) => path === "ca.pem" ? Promise.resolve(cert) : Promise.reject(new Error("no such file")),
  );
}

Deno.test("certificates come from a file and from the options, hashes in every usual form", async () => {
  assertEquals(await read({}), { caCerts: [], certificateHashes: [] });
  assertEquals((await read({ caFile: "ca.pem", caCerts: [cert] })).caCerts, [cert, cert]);
  const bytes = new Uint8Array(32).fill(0xab);
  const { certificateHashes } = await read({
    certificateHashes: [bytes, "AB".repeat(32), Array(32).fill("ab").join(":")],
  });
  assertEquals(certificateHashes, [bytes, bytes, bytes]);
});

const faults: readonly [what: string, tls: TlsOptions, text: string][] = [
  ["a file that is not there", { caFile: "other.pem" }, "other.pem"],
  ["text that is no certificate", { caCerts: ["-----BEGIN PRIVATE KEY-----"] }, "PEM"],
  ["a hash of another length", { certificateHashes: ["abcd"] }, "64 hexadecimal"],
  ["a hash that is not hexadecimal", { certificateHashes: ["zz".repeat(32)] }, "64 hexadecimal"],
  ["hash bytes of another length", { certificateHashes: [new Uint8Array(20)] }, "32 bytes"],
];

for (const [what, tls, text] of faults) {
  Deno.test(`tls options with ${what} are refused`, async () => {
    const error = await assertRejects(() => read(tls), StaticError, text);
    assertEquals(error.code, "invalid_request");
  });
}
