/**
 * The CLI at a known place: somebody who guesses the user's password does not keep the user out.
 */
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { anyBackend, startTestApi } from "../support/api/harness.ts";
import { codeTo } from "../support/api/mailbox.ts";
import { User } from "./user.ts";

const [password, second, third] = [
  "correct horse battery staple",
  "another long password",
  "a third long password",
];

Deno.test("a credentials file makes its place a known one, which strangers who guess do not lock out", async () => {
  const backend = await anyBackend.open();
  const api = await startTestApi({
    ...backend.environment,
    STATIC_TRUSTED_PROXIES: "127.0.0.1",
    STATIC_RATE_PASSWORDS: "4/86400",
  });
  await using user = await User.create({ STATIC_API_URL: api.url });
  await using elsewhere = await User.create({ STATIC_API_URL: api.url });
  const email = `owner-${crypto.randomUUID()}@example.com`;
  const deviceOf = async (): Promise<string> => {
    const { device = "" } = await user.credentials();
    assertMatch(device, /^[\w-]{80,}$/);
    user.secrets.add(device);
    return device;
  };
  const besiege = async (): Promise<void> => {
    for (let host = 1; host <= 10; host++) {
      await api.call("POST", "/v1/accounts/keys", {
        body: { email, password: "not the password" },
        headers: { "x-forwarded-for": `198.51.100.${host}` },
      });
    }
  };
  const logIn = (who: User, input: string, code = 0): Promise<unknown> =>
    who.run(["login", "--email", email, "--yes"], { input: `${input}\n`, code });
  try {
    await user.run(["signup", "--email", email], { input: `${password}\n` });
    const first = await deviceOf();
    assertEquals(((await Deno.stat(user.credentialsFile)).mode ?? 0) & 0o777, 0o600);
    await besiege();
    await logIn(elsewhere, password, 6);
    await logIn(user, password);
    assertNotEquals(await deviceOf(), first);
    await user.run(["account", "verify", await codeTo(backend, email, 1)]);

    await user.run(["account", "password"], { input: `${password}\n${second}\n` });
    await besiege();
    await logIn(user, second);

    await user.run(["account", "password", "--revoke-keys"], { input: `${second}\n${password}\n` });
    assertEquals((await user.credentials()).api_key, undefined);
    await logIn(user, password);

    // A reset makes a place known that has nothing saved, and leaves another service's file alone.
    await elsewhere.run(["account", "reset", "--email", email]);
    const code = await codeTo(backend, email, 2);
    await elsewhere.run(["account", "reset", code, "--email", email], { input: `${third}\n` });
    await besiege();
    await logIn(elsewhere, third);
    await logIn(user, third, 6);
    assert((await elsewhere.credentials()).api_key?.startsWith("sk_"));

    // It is sent to its own service only, and forgotten with the rest.
    const sent: (string | null)[] = [];
    const other = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      ({ headers }) => {
        sent.push(headers.get("static-device"));
        return Response.json({ error: "no", code: "auth_failed", request_id: "" }, { status: 401 });
      },
    );
    const there = ["--api-url", `http://127.0.0.1:${other.addr.port}`];
    await elsewhere.run(["login", "--email", email, "--yes", ...there], {
      input: `${third}\n`,
      code: 3,
    });
    await other.shutdown();
    assertEquals(new Set(sent), new Set([null]));
    await elsewhere.run(["logout"]);
    await logIn(elsewhere, third, 6);
  } finally {
    await api.close();
    await backend.close();
  }
});
