// Every place at which a person or a model sees a name or a text of a stranger, with names that
// want to pass for something else.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { isClean, quoted, shownJson, WireError } from "../../proto/mod.ts";
import {
  type Channel,
  ChannelError,
  type ChannelMember,
  type Envelope,
  type HealthIssue,
  RemoteError,
  type StaticError,
} from "../../sdk/mod.ts";
import { assertSafe, forged, hostileNames } from "../../tests/support/hostile_names.ts";
import { name, readEnvelopes, Stage, until } from "../../tests/support/scenario/stage.ts";
import { printMessage } from "../commands/channel_messages.ts";
import { ToolAnswers } from "../mcp/answering.ts";
import { FailureWords } from "../mcp/failure_words.ts";
import { describeChannel } from "../mcp/channel_view.ts";
import { viewOf } from "../mcp/message_view.ts";
import { Failure } from "../failure.ts";
import { Output, table } from "../output.ts";
import type { CommandPlatform } from "../platform/platform.ts";
import { memberName, memberRoles } from "./channel_texts.ts";

function terminal(): {
  readonly output: Output;
  readonly platform: CommandPlatform;
  readonly printed: () => string;
} {
  let text = "";
  const sink = {
    isTerminal: true,
    columns: 500,
    write: (more: string) => Promise.resolve(void (text += more)),
  };
  const variable = (name: string): string | undefined => name === "NO_COLOR" ? "1" : undefined;
  // cast: printing needs nothing else
  const platform = {
    stdout: sink,
    stderr: sink,
    program: "static",
    variable,
  } as unknown as CommandPlatform;
  return { platform, output: new Output(platform, { json: false }), printed: () => text };
}

async function linesOf(
  print: (on: ReturnType<typeof terminal>) => Promise<void>,
): Promise<string[]> {
  const on = terminal();
  await print(on);
  return on.printed().split("\n").slice(0, -1);
}

const agentId = "AAAAAAAAAAAAAAAAAAAAAA" as ChannelMember["agentId"]; // cast: has the form

Deno.test("errors and JSON quote no stranger who would be taken for somebody else", () => {
  for (const [what, text] of Object.entries(hostileNames)) {
    const json = shownJson({ identity: text });
    const lines = {
      ChannelError: new ChannelError("not_found", `"${text}" is unknown`).message,
      RemoteError: new RemoteError(text).message,
      WireError: new WireError("invalid_request", `"${text}" is unknown`).message,
      "--json": json,
    };
    for (const [where, line] of Object.entries(lines)) assertSafe(line, `${where} with ${what}`);
    assertEquals(JSON.parse(json).identity, text);
  }
});

Deno.test("the command prints strangers' names and texts on lines that are theirs", async () => {
  for (const [what, identity] of Object.entries(hostileNames)) {
    assertEquals(isClean(identity), false, what);
    assertStringIncludes(
      memberName({ identity, agentId, knownAs: undefined, keyUnchanged: true }),
      agentId,
    );
    // cast: printing needs nothing else
    const message = {
      bytes: new TextEncoder().encode(`hi\n${identity}`),
      sender: { agentId, identity },
      id: "id",
      timeMs: 0,
    } as unknown as Envelope;
    const channel = { name } as Channel; // cast: as above
    const printed = {
      listen: await linesOf(({ platform, output }) =>
        printMessage({ platform, output } as never, channel, message)
      ), // cast: as above
      warning: await linesOf(({ output }) => output.warn(`Not sent: ${identity}`)),
      error: await linesOf(({ output }) =>
        output.failure(new Failure("not_found", identity, { advice: identity }))
      ),
      forgotten: await linesOf(({ output }) => output.result({}, [identity.replaceAll("\n", " ")])),
      table: table([[
        memberName({ identity, agentId, knownAs: undefined, keyUnchanged: true }),
        "owner",
      ]]),
    };
    for (const [where, lines] of Object.entries(printed)) {
      for (const [index, line] of lines.entries()) {
        assertSafe(line, `${where} with ${what}`);
        // Lines that only the stranger made are indented; advice of a failure begins a line of
        // ours.
        if (index > 0 && where !== "error") {
          assert(line.startsWith("  "), `${where} with ${what}: ${line}`);
        }
        assert(!line.startsWith(forged), `${where} with ${what}`);
      }
    }
    const answering = new ToolAnswers({
      secrets: [],
      words: new FailureWords({ program: "static", hideNames: false }),
    });
    for (
      const text of [
        JSON.stringify(viewOf(name, message, { maxLength: 1000, hideNames: false })),
        answering.textOf(new Error(identity)),
      ]
    ) {
      assertSafe(text.replaceAll("\n", " "), `a model, with ${what}`);
    }
  }
});

Deno.test("in a channel with impostors their names are escaped, marked and reported, and their messages stay theirs", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  await alice.manager.create(name);
  const channel = await alice.channel();
  const events: string[] = [];
  const stop = new AbortController();
  const watching = (async () => {
    for await (const event of channel.events({ signal: stop.signal })) {
      if (event.type === "look_alike") {
        events.push(`${event.member.agentId} ${event.resembles.agentId}`);
      }
    }
  })();
  const invisible = await stage.actor("alice\u200b");
  const capital = await stage.actor("AIice");
  const liar = await stage.actor(`bob\n${forged}`);
  const impostors = [invisible, capital];
  for (const actor of [...impostors, liar]) {
    await actor.manager.joinWithToken(name, await alice.manager.invite(name));
  }
  const memberOf = (id: string): ChannelMember | undefined =>
    channel.members().find((each) => each.agentId === id);
  await until("all are in", () => channel.members().length === 4);
  for (const { client } of impostors) {
    assertStringIncludes(memberOf(client.agentId)?.resembles.join(" ") ?? "", alice.client.agentId);
  }
  assertEquals(memberOf(liar.client.agentId)?.resembles, []);
  assertEquals(
    memberOf(alice.client.agentId)?.resembles.toSorted(),
    impostors.map(({ client }) => client.agentId).toSorted(),
  );
  // Also for one that comes in later: those that were there already look alike to it.
  const alike = ({ kind }: HealthIssue): boolean => kind === "look_alike";
  assertEquals((await liar.channel()).health().issues.filter(alike).length, 2);

  const issues = channel.health().issues.filter(alike);
  assertEquals(issues.length, 2);
  for (const { text } of issues) assertSafe(text, "health");
  assertSafe(JSON.stringify(describeChannel(channel, "static")), "a model's view of the channel");
  const rows = table(
    channel.members().map((
      each,
    ) => [memberName(each), each.agentId, memberRoles(each, Date.now())]),
  );
  assertEquals(rows.length, 4);
  for (const row of rows) assertSafe(row, "members");
  assertEquals(rows.filter((row) => row.includes(`looks like ${alice.client.agentId}`)).length, 2);

  await (await liar.channel()).send(`one\n${forged}`);
  const [message] = await readEnvelopes(channel, 1);
  assert(message !== undefined);
  const lines = await linesOf(({ platform, output }) =>
    printMessage({ platform, output } as never, channel, message)
  ); // cast: it needs nothing else
  assertEquals(lines.length, 2);
  assertStringIncludes(
    lines[0] ?? "",
    `${liar.client.agentId}  unverified; calls itself ${quoted(`bob\n${forged}`)}  one`,
  );
  assertEquals(lines[1], `  ${forged}`);

  await channel.removeMember(capital.client.agentId);
  await until("it is out", () => channel.members().length === 3);
  assertEquals(memberOf(alice.client.agentId)?.resembles, [invisible.client.agentId]);
  stop.abort();
  await watching.catch((error: StaticError) => assertEquals(error, stop.signal.reason));
  assertEquals(events, impostors.map(({ client }) => `${client.agentId} ${alice.client.agentId}`));
});
