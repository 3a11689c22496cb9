import { assert, assertEquals, assertMatch } from "@std/assert";
import { anyBackend, startTestApi } from "../support/api/harness.ts";
import { installed, testWhen } from "../support/mod.ts";
import { Terminal } from "./terminal.ts";
import { assertNoStackTrace } from "./user.ts";

const password = "correct horse battery staple";
// deno-lint-ignore no-control-regex
const colour = /\x1b\[3\dm/;

/** The task's own command, so that what a user runs is what is tested. */
async function staticCommand(): Promise<string> {
  const { tasks } = JSON.parse(
    await Deno.readTextFile(new URL("../../deno.json", import.meta.url)),
  );
  return String(tasks.static).replace(/\bdeno run\b/, `${Deno.execPath()} run`);
}

testWhen(installed("script", "bash"), "at a terminal", async (t) => {
  const backend = await anyBackend.open();
  const api = await startTestApi(backend.environment);
  const folder = await Deno.makeTempDir({ prefix: "static-terminal-" });
  const variables = {
    STATIC_API_URL: api.url,
    XDG_CONFIG_HOME: `${folder}/config`,
    XDG_DATA_HOME: `${folder}/data`,
    STATIC_HOST: "off",
    NO_COLOR: "",
  };
  const command = await staticCommand();
  try {
    await t.step(
      "signup does not show what is typed as a password, also not corrections of it",
      async () => {
        await using terminal = new Terminal(`${command} signup`, variables);
        await terminal.see(/E-mail: /);
        await terminal.type("person@example.com\n");
        await terminal.see(/person@example\.com\s+Password: /);
        // Wrong letters taken back one by one, a whole line taken back, then the password with an
        // umlaut mistyped in it.
        await terminal.type(`wrong\x7f\x7f\x7f\x7f\x7f${password}\x15ü\x7f${password}\r`);
        await terminal.see(/Password again: /);
        await terminal.type(`${password}\r`);
        await terminal.see(/Account person@example\.com created/);
        assertEquals(await terminal.end(), 0);
        assert(
          !terminal.screen.includes("correct") && !terminal.screen.includes("wrong"),
          terminal.screen,
        );
        assertMatch(terminal.raw, colour);
        const { status } = await api.call("POST", "/v1/accounts/keys", {
          body: { email: "person@example.com", password },
        });
        assertEquals(status, 200, "what was typed, with its corrections, is the password");
      },
    );
    await t.step(
      "Ctrl-C at the question for the password ends with 130 and gives the terminal back",
      async () => {
        await using terminal = new Terminal(
          `${command} login --yes --email a@example.com; echo code $?; stty`,
          variables,
        );
        await terminal.see(/Password: /);
        await terminal.type("half a pass\x03");
        await terminal.see(/code 130/);
        await terminal.end();
        assert(!/half a pass|-icanon|-echo\b/.test(terminal.screen), terminal.screen);
        assertNoStackTrace(terminal.screen);
      },
    );
    await t.step("Ctrl-C at any other question ends at once, too", async () => {
      await using terminal = new Terminal(`${command} login --yes; echo code $?`, variables);
      await terminal.see(/E-mail: /);
      await terminal.type("\x03");
      await terminal.see(/\ncode 130/);
      assertNoStackTrace(terminal.screen);
    });
    await t.step("Ctrl-D at a question is answered on a line of its own", async () => {
      await using terminal = new Terminal(`${command} login --yes; echo code $?`, variables);
      await terminal.see(/E-mail: /);
      await terminal.type("\x04");
      await terminal.see(/\nerror: E-mail is missing[^]*code 2/);
    });
    await t.step(
      "Ctrl-C while the stack starts ends its progress, and begins a line of its own",
      async () => {
        const ports = ["API", "ADMIN", "INTERNAL", "RELAY_GRPC", "RELAY_QUIC"].map((
          part,
        ) => [`STATIC_${part}_PORT`, "0"]);
        const stack = { STATIC_DATA_DIR: `${folder}/stack`, ...Object.fromEntries(ports) };
        await using terminal = new Terminal(
          `${Deno.execPath()} task --quiet start; echo code $?`,
          stack,
        );
        await terminal.see(/API, making its database .+ … 0\.\d s/);
        await terminal.type("\x03");
        await terminal.see(/\nStopping …\n(API took too long and was ended\n)?code 0/);
      },
    );
    await t.step("colours follow NO_COLOR", async () => {
      await using terminal = new Terminal(`${command} whoami --no-such-flag`, {
        ...variables,
        NO_COLOR: "1",
      });
      assertEquals(await terminal.end(), 2);
      assertMatch(terminal.screen, /error: --no-such-flag is not a flag/);
      assert(!colour.test(terminal.raw), terminal.raw);
    });
  } finally {
    await api.close();
    await backend.close();
    await Deno.remove(folder, { recursive: true });
  }
});
