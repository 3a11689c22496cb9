/**
 * The recording in docs/agents.md, made again: two owners, two homes with hosts of their own, and a
 * script in the place of each model. Nothing in it is written by hand: each line is what a model
 * was told, or what it called.
 */
import { assertEquals } from "@std/assert";
import { shareStack } from "../support/shared_stack.ts";
import { type Home, openHome, runStatic } from "./home.ts";
import { McpSession, type Result } from "./session.ts";
import { Wakes } from "./waking.ts";

const channel = "acme/ops/deploy";
const page = new URL("../../docs/agents.md", import.meta.url);

/** A model's session, with what is shown of its calls. */
class Model {
  readonly #name: string;
  readonly #session: McpSession;
  readonly #lines: string[];

  constructor(name: string, session: McpSession, lines: string[]) {
    this.#name = name;
    this.#session = session;
    this.#lines = lines;
  }

  show(text: string): void {
    this.#lines.push(`${this.#name.padEnd(10)}${text}`);
  }

  async send(
    said: { readonly text: string; readonly to: string; reply_to?: string },
  ): Promise<void> {
    const { to, ...rest } = said;
    const { id } = await this.#session.call("send", {
      ...{ channel, ...rest, to: [to] },
      receipt: rest.reply_to === undefined,
    });
    this.show(`send  ${rest.reply_to ? "(a reply)" : "(asks for a receipt)"} ${rest.text}`);
    if (id === undefined) throw new Error("Not sent");
  }

  async done({ id, from }: Said): Promise<void> {
    await this.#session.call("done", { channel, id, from: from.agent_id });
    this.show("done");
  }

  /** Until this is there; what comes before it is left out. */
  async wait<T>(find: (answer: Result) => T | undefined, words: (found: T) => string): Promise<T> {
    for (;;) {
      const found = find(await this.#session.call("wait", { seconds: 45 }));
      if (found === undefined) continue;
      this.show(`wait  ${words(found)}`);
      return found;
    }
  }
}

interface Said {
  readonly id: string;
  readonly text: string;
  readonly from: { readonly agent_id: string; readonly who: string };
}

const firstMessage = ({ messages: [first] }: { messages: Said[] }): Said | undefined => first;
const shown = ({ text, from }: Said): string => `${from.who}: ${text}`;

Deno.test("the recording: one model sleeps, one sends, the first wakes and answers, and the sender sees done", async () => {
  const stack = await shareStack();
  await using closing = new AsyncDisposableStack();
  const open = async (account = stack.account): Promise<Home> =>
    closing.use(await openHome({ ...stack, account }));
  const [acme, globex] = [await open(), await open(await stack.api.signUp())];
  const words = ["--agent", "bot"];
  await runStatic(acme.env, ["channel", "create", channel, ...words]);
  const token = await runStatic(acme.env, [
    "channel",
    "invite",
    channel,
    "--no-wait",
    "--json",
    ...words,
  ]);
  await runStatic(globex.env, ["channel", "join", channel, ...words], JSON.parse(token).token);
  const session = async ({ env, record }: Home): Promise<McpSession> =>
    closing.use(await McpSession.open({ words, env, record }));
  const lines: string[] = [];
  const own = await session(acme);
  const planner = new Model("planner", own, lines);
  const { members } = await own.call("members", { channel });
  const reviewerId = members.find(({ owner }: { owner?: boolean }) => owner !== true).agent_id;

  // Its turn is over: it hears nothing, until its harness is told.
  const theirs = await session(globex);
  const reviewer = new Model("reviewer", theirs, lines);
  const wakes = closing.use(new Wakes(globex.env));
  reviewer.show("sleeps");
  await planner.send({ text: "Is build 7 safe to deploy?", to: reviewerId });
  await wakes.next("a wake");
  const [line = ""] = wakes.lines;
  reviewer.show(`is woken: "${line.slice(0, line.indexOf(".") + 1)} …"`);
  const question = await reviewer.wait<Said>(firstMessage, shown);
  await reviewer.send({
    text: "Yes: all 312 tests pass.",
    to: question.from.agent_id,
    reply_to: question.id,
  });
  await reviewer.done(question);
  await theirs.call("wait", { seconds: 0 });
  reviewer.show("sleeps");
  let isDone = false;
  const isOver = (answer: Result): Said | undefined => {
    isDone ||= answer.receipts?.some(({ state }: { state: string }) => state === "done") ?? false;
    return firstMessage(answer);
  };
  await planner.wait(isOver, shown);
  if (isDone) planner.show("wait  receipt: done");
  else {await planner.wait<boolean>(
      (answer) => (isOver(answer), isDone || undefined),
      () => "receipt: done",
    );}
  const [, recorded] =
    /```text\n(reviewer +sleeps[^]*?)\n```/.exec(await Deno.readTextFile(page)) ?? [];
  assertEquals(recorded?.split("\n"), lines);
});
