// Behind a proxy that inspects TLS, packages come with a certificate that only the machine's own
// store knows. Deno fails then before a line of ours runs, so the README has to name the words of
// that failure and the variable that helps.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createCertificate } from "../support/mod.ts";

const root = new URL("../../", import.meta.url);
const failure = "invalid peer certificate: UnknownIssuer";
const variable = "DENO_TLS_CA_STORE";

/** The words of `deno task` with nothing cached in `folder` and packages from this registry. */
async function startFrom(registry: string, folder: string, store: string): Promise<string> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "start", "--help"],
    cwd: root,
    env: {
      DENO_DIR: `${folder}/${store}`,
      NPM_CONFIG_REGISTRY: registry,
      [variable]: store,
      // The certificates that this machine trusts, for this one test.
      SSL_CERT_FILE: `${folder}/authorities.pem`,
      SSL_CERT_DIR: folder,
    },
  }).output();
  assertEquals(success, false);
  return new TextDecoder().decode(stderr);
}

Deno.test("the README names what a start behind a TLS-inspecting proxy fails with, and what helps", async () => {
  const readme = await Deno.readTextFile(new URL("README.md", root));
  for (const words of [failure, `${variable}=system`]) {
    assert(readme.includes(words), `README.md lacks "${words}"`);
  }

  const { cert, key } = await createCertificate();
  const gone = (): Response => new Response(null, { status: 410 });
  await using server = Deno.serve(
    { hostname: "localhost", port: 0, cert, key, onListen: () => {} },
    gone,
  );
  const registry = `https://localhost:${server.addr.port}/`;
  const folder = await Deno.makeTempDir({ prefix: "static-registry-" });
  try {
    await Deno.writeTextFile(`${folder}/authorities.pem`, cert);
    assertStringIncludes(await startFrom(registry, folder, "mozilla"), failure);
    assertStringIncludes(await startFrom(registry, folder, "system"), "Bad response: 410");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
