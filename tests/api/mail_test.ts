import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { anyBackend, startTestApi } from "../support/api/harness.ts";
import { codeForm } from "../support/api/mailbox.ts";
import { eventually, freePort } from "../support/mod.ts";
import { startSmtpServer } from "../support/smtp_server.ts";

const patience = { what: "mail" };

Deno.test("mail that no server takes waits, bounded, and is delivered once one does", async (t) => {
  const backend = await anyBackend.open();
  const port = freePort();
  const environment = {
    ...backend.environment,
    STATIC_SMTP_URL: `smtp://127.0.0.1:${port}?from=static@service.example`,
  };
  let api = await startTestApi(environment);
  const sql = backend.sql();
  const waiting = async (): Promise<number> =>
    Number((await sql`SELECT count(*) AS n FROM mail_queue`)[0]?.n);
  try {
    const user = await api.signUp();
    await t.step(
      "a server that is down delays it, and the log says so without a code",
      async () => {
        await eventually(
          patience,
          () => Promise.resolve(api.logs),
          (logs) => logs.some((line) => line.includes("mail_not_sent")),
        );
        assertEquals(await waiting(), 1);
        const [row] = await sql`SELECT body FROM mail_queue`;
        const [, code = "none"] = codeForm.exec(String(row?.body)) ?? [];
        assert(!api.logs.some((line) => line.includes(code) || line.includes(user.email)));
      },
    );
    await t.step(
      "it survives the process that took it, and arrives, once, with its code",
      async () => {
        await api.close();
        api = await startTestApi(environment);
        // Mails that the earlier process had taken are hidden for a while.
        await sql`UPDATE mail_queue SET next_attempt_at = now()`;
        await using server = startSmtpServer(port);
        await eventually(
          patience,
          () => Promise.resolve(server.messages),
          ({ length }) => length === 1,
        );
        await eventually(patience, waiting, (count) => count === 0);
        const [message] = server.messages;
        assertEquals(message?.recipients, [user.email]);
        assertStringIncludes(message?.text ?? "", "From: Static <static@service.example>");
        const [, code] = codeForm.exec(message?.text ?? "") ?? [];
        const answer = await api.call("POST", "/v1/account/verification/confirm", {
          key: user.apiKey,
          body: { code },
        });
        assertEquals(answer.json.email_verified, true, answer.text);
      },
    );
    await t.step("an address is one recipient, whatever it looks like", async () => {
      await using server = startSmtpServer(port);
      const names = ["a,victim", "a;b", "<x>", 'a"b', "a\\b", "(c)d", "x:y", "a'b"];
      for (const name of names) {
        await api.call("POST", "/v1/accounts/claim", { body: { email: `${name}@example.com` } });
      }
      await eventually(
        patience,
        () => Promise.resolve(server.messages),
        ({ length }) => length === names.length - 1,
      );
      const quoted = ['"a,victim"', '"a;b"', '"a\\"b"', '"a\\\\b"', '"(c)d"', '"x:y"', "a'b"];
      const all = server.messages.map(({ recipients }) => recipients.join(" and ")).sort();
      assertEquals(all, quoted.map((name) => `${name}@example.com`).sort());
    });
    await t.step(
      "what was refused for good is given up, at once, and others are not kept waiting",
      async () => {
        await using server = startSmtpServer(port, { refuse: 550 });
        const email = `gone-${crypto.randomUUID()}@example.com`;
        await api.call("POST", "/v1/accounts/claim", { body: { email } });
        const logged = (event: string): boolean =>
          api.logs.some((line) => line.includes(`"${event}"`));
        await eventually(
          patience,
          () => Promise.resolve(logged("mail_given_up")),
          (isLogged) => isLogged,
        );
        await eventually(patience, waiting, (count) => count === 0);
        assertEquals(server.messages.length, 0);
      },
    );
    await t.step(
      "what was refused for now is tried again, and the log has no recipient",
      async () => {
        const state: { refuse?: number } = { refuse: 451 };
        await using server = startSmtpServer(port, state);
        await api.call("POST", "/v1/accounts/claim", {
          body: { email: `b-${crypto.randomUUID()}@example.com` },
        });
        const failures = (): number =>
          api.logs.filter((line) => line.includes("mail_not_sent")).length;
        const before = failures();
        await eventually(patience, () => Promise.resolve(failures()), (count) => count > before);
        delete state.refuse;
        assert(!api.logs.some((line) => line.includes("@example.com")));
        await eventually(
          patience,
          () => Promise.resolve(server.messages),
          ({ length }) => length === 1,
        );
      },
    );
    await t.step(
      "a full queue refuses requests for mail, and a sign-up goes on without",
      async () => {
        await sql`DELETE FROM mail_queue`;
        await sql`
        INSERT INTO mail_queue (id, recipient, subject, body, next_attempt_at, expires_at)
        SELECT gen_random_uuid(), 'x@example.com', '', '', now() + interval '1 hour', now() + interval '1 hour'
        FROM generate_series(1, 10000)`;
        const { status, json, headers } = await api.call("POST", "/v1/accounts/claim", {
          body: { email: "c@example.com" },
        });
        assertEquals([status, json.code, headers.has("retry-after")], [503, "overloaded", true]);
        await api.signUp();
        assertEquals(await waiting(), 10_000);
      },
    );
  } finally {
    await sql.end();
    await api.close();
    await backend.close();
  }
});

Deno.test("asking for mail is limited for each address and for each client", async () => {
  const backend = await anyBackend.open();
  const api = await startTestApi({ ...backend.environment, STATIC_RATE_MAIL: "2/3600" });
  try {
    const ask = async (email: string): Promise<number> =>
      (await api.call("POST", "/v1/accounts/claim", { body: { email } })).status;
    assertEquals([
      await ask("a@example.com"),
      await ask("A@example.com"),
      await ask("a@example.com"),
    ], [204, 204, 429]);
    const others = await Promise.all(
      Array.from({ length: 8 }, (_, index) => ask(`b${index}@example.com`)),
    );
    assertEquals(others.filter((status) => status === 204).length, 5);
  } finally {
    await api.close();
    await backend.close();
  }
});
