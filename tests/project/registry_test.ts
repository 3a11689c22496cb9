// Behind a proxy that inspects TLS, packages come with a certificate that only the machine's own store knows. Deno fails then
// before a line of ours runs, so the README has to name the words of that failure and the variable that helps.
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createCertificate } from "../support/mod.ts";

const root = new URL("../../", import.meta.url);
const failure = "invalid peer certificate: UnknownIssuer";
const remedy = "DENO_TLS_CA_STORE=system";

/** The words of `deno task` with nothing cached and packages from this registry. */
async function startFrom(registry: string, env: Readonly<Record<string, string>>): Promise<string> {
  const cache = await Deno.makeTempDir({ prefix: "static-cache-" });
  try {
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["task", "start", "--help"],
      cwd: root,
      env: { ...env, DENO_DIR: cache, NPM_CONFIG_REGISTRY: registry },
    }).output();
    assertEquals(success, false);
    return new TextDecoder().decode(stderr);
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
}

Deno.test("the README names what a start behind a TLS-inspecting proxy fails with, and what helps", async () => {
  const readme = await Deno.readTextFile(new URL("README.md", root));
  assertStringIncludes(readme, failure);
  assertStringIncludes(readme, remedy);

  const { cert, key } = await createCertificate();
  const authorities = await Deno.makeTempFile({ prefix: "static-authorities-" });
  await Deno.writeTextFile(authorities, cert);
  const gone = (): Response => new Response(null, { status: 410 });
  await using server = Deno.serve({ hostname: "localhost", port: 0, cert, key, onListen: () => {} }, gone);
  const registry = `https://localhost:${server.addr.port}/`;

  const [name = "", value = ""] = remedy.split("=");
  const system = { SSL_CERT_FILE: authorities, SSL_CERT_DIR: "/nonexistent" };
  assertStringIncludes(await startFrom(registry, { ...system, [name]: "mozilla" }), failure);
  assertMatch(await startFrom(registry, { ...system, [name]: value }), /Bad response: 410/);
  await Deno.remove(authorities);
});
