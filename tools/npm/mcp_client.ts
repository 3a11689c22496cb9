/**
 * The client package of the Model Context Protocol, led by lines of JSON: one question in, one
 * answer out, in any order. Tests use it, because a server that only its author's client
 * understands is not shown to work.
 */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createInterface } from "node:readline";
import process from "node:process";

interface ClientQuestion {
  readonly id: number;
  readonly op:
    | "connect"
    | "call"
    | "tools"
    | "resources"
    | "read"
    | "subscribe"
    | "heard"
    | "close";
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The protocol's present revision, or the one before. */
  readonly mode?: "auto" | "legacy";
  readonly name?: string;
  readonly uri?: string;
  readonly arguments?: Record<string, unknown>;
  readonly timeoutMs?: number;
  readonly cancelAfterMs?: number;
  /** The replies of a person when the server asks. */
  readonly answers?: Record<string, string>;
}

const presentRevision = "2026-07-28";

/** One session, and what the server has told without being asked. */
class LedSession {
  #client: Client | undefined;
  readonly heard: unknown[] = [];

  async act(question: ClientQuestion): Promise<unknown> {
    const { op, name = "", uri = "", timeoutMs, cancelAfterMs } = question;
    if (op === "connect") return await this.#connect(question);
    const client = this.#client;
    if (client === undefined) throw new Error("connect first");
    if (op === "tools") return (await client.listTools()).tools;
    if (op === "resources") return (await client.listResources()).resources;
    if (op === "read") return (await client.readResource({ uri })).contents;
    if (op === "subscribe") return await this.#subscribe(client, uri);
    if (op === "heard") return this.heard;
    if (op === "close") return await client.close();
    const options = {
      ...(timeoutMs !== undefined && { timeout: timeoutMs }),
      ...(cancelAfterMs !== undefined && { signal: AbortSignal.timeout(cancelAfterMs) }),
    };
    return await client.callTool({ name, arguments: question.arguments ?? {} }, options);
  }

  /** The present revision has another way than the one before. */
  async #subscribe(client: Client, uri: string): Promise<unknown> {
    if (client.getNegotiatedProtocolVersion() !== presentRevision) {
      return await client.subscribeResource({ uri });
    }
    await client.listen({ resourceSubscriptions: [uri] });
    return {};
  }

  async #connect(
    { command = "", args = [], env = {}, mode = "legacy", answers }: ClientQuestion,
  ): Promise<unknown> {
    const capabilities = answers === undefined ? {} : { elicitation: {} };
    const client = new Client({ name: "test", version: "1.0.0" }, {
      versionNegotiation: { mode },
      capabilities,
    });
    client.setNotificationHandler(
      "notifications/resources/updated",
      (notification) => void this.heard.push(notification),
    );
    if (answers !== undefined) {
      client.setRequestHandler("elicitation/create", () => {
        const isGiven = Object.keys(answers).length > 0;
        return isGiven ? { action: "accept", content: answers } : { action: "decline" };
      });
    }
    await client.connect(
      new StdioClientTransport({ command, args: [...args], env: { ...env }, stderr: "inherit" }),
    );
    this.#client = client;
    return {
      instructions: client.getInstructions(),
      protocol: client.getNegotiatedProtocolVersion(),
    };
  }
}

const led = new LedSession();
for await (const line of createInterface({ input: process.stdin })) {
  const question: ClientQuestion = JSON.parse(line);
  const say = (more: object): void =>
    void process.stdout.write(
      `${JSON.stringify({ id: question.id, ...more, heard: led.heard })}\n`,
    );
  led.act(question).then(
    (answer) => say({ answer: answer ?? null }),
    (error) => say({ error: String(error) }),
  );
}
process.exit(0);
