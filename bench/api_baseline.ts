/**
 * The peers of the API: a bare hono hello; hono + one indexed SELECT + one Ed25519 signature, the
 * least a token can cost; and the same with jose's `SignJWT`. Same server (`Deno.serve`), same
 * driver. The keys in `DATABASE_URL` are asked for in turn.
 */
import { generateKeyPairSync, sign } from "node:crypto";
import { Hono } from "hono";
import { generateKeyPair, SignJWT } from "jose";
import postgres from "postgres";

const sql = postgres(Deno.env.get("DATABASE_URL") ?? "", { max: 10, fetch_types: false });
const { privateKey } = generateKeyPairSync("ed25519");
const { privateKey: joseKey } = await generateKeyPair("EdDSA", { crv: "Ed25519" });
const rows = await sql<{ key_prefix: string }[]>`SELECT key_prefix FROM api_keys`;
const prefixes = inTurn(rows.map(({ key_prefix }) => key_prefix));
const encoder = new TextEncoder();
const header = base64url(encoder.encode('{"alg":"EdDSA","typ":"JWT","kid":"bench"}'));

function* inTurn(values: readonly string[]): Generator<string> {
  while (true) yield* values;
}

function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

const app = new Hono();
app.get("/hello", (c) => c.json({ hello: "world" }));
app.post("/token", async (c) => {
  const signed = `${header}.${base64url(encoder.encode(JSON.stringify(await nextClaims())))}`;
  return c.json({
    token: `${signed}.${base64url(sign(null, encoder.encode(signed), privateKey))}`,
  });
});
app.post("/token-of-jose", async (c) => {
  const token = new SignJWT(await nextClaims()).setProtectedHeader({
    alg: "EdDSA",
    typ: "JWT",
    kid: "bench",
  });
  return c.json({ token: await token.sign(joseKey) });
});

async function nextClaims(): Promise<Record<string, unknown>> {
  const [row] = await sql`
    SELECT k.id, k.account_id, a.plan, k.key_hash, k.revoked_at IS NOT NULL AS revoked
    FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.key_prefix = ${
    prefixes.next().value ?? ""
  }`;
  const issuedAt = Math.floor(Date.now() / 1000);
  return {
    sub: row?.account_id,
    plan: row?.plan,
    iss: "static-api",
    iat: issuedAt,
    exp: issuedAt + 3600,
  };
}

const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, app.fetch);
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.addr.port}` }));
