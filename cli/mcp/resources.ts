/**
 * Channels as resources, `static://channel/acme/ops/deploy`: what the tool `channels` tells about
 * one, and updates of it as hints that something waits. A resource has no messages in it: reading a
 * resource acknowledges nothing, so they would come for ever.
 */
import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import type { AgentLink } from "./agent_link.ts";
import type { ToolAnswers } from "./answering.ts";
import { refused } from "./refusal.ts";
import { describeChannel } from "./channel_view.ts";
import type { Hints } from "./hints.ts";

export interface ResourceParts {
  readonly link: AgentLink;
  readonly answering: ToolAnswers;
  readonly hints: Hints;
  /** How the user started this program. */
  readonly program: string;
}

const scheme = "static://channel/";
const mimeType = "application/json";

export function channelUri(name: string): string {
  return `${scheme}${name}`;
}

/** Undefined for an address of something else. */
export function channelOfUri(uri: string): string | undefined {
  const name = uri.startsWith(scheme) ? uri.slice(scheme.length) : undefined;
  return name !== undefined && /^[a-z0-9-]+\/[a-z0-9-]+\/[a-z0-9-]+$/.test(name) ? name : undefined;
}

/** The server's capabilities beside tools. */
export const resourceCapabilities = { resources: { subscribe: true } } as const;

export function registerResources(
  server: McpServer,
  { link, answering, hints, program }: ResourceParts,
): void {
  const template = new ResourceTemplate(`${scheme}{org}/{namespace}/{service}`, {
    list: async () => ({
      resources: (await answered(answering, async () => (await link.agent()).channels)).map((
        name,
      ) => ({
        uri: channelUri(name),
        name,
        mimeType,
        description:
          "A channel of this agent. An update of it means that messages are there: call wait.",
      })),
    }),
  });
  server.registerResource("channel", template, {
    title: "Channel",
    description:
      "What is wrong with a channel, if anything, and how many messages wait in it. The tool wait returns them.",
    mimeType,
  }, async ({ href }) => ({
    contents: [{
      uri: href,
      mimeType,
      text: answering.screened(
        JSON.stringify(
          await answered(
            answering,
            async () => describeChannel(await link.channel(nameIn(href)), program),
          ),
        ),
      ),
    }],
  }));
  // The previous revision of the protocol; of the present one `serveStdio` answers, and `watchedBy`
  // sees it.
  server.server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    const name = nameIn(uri);
    await answered(answering, () => link.channel(name));
    if (!hints.watch(name)) {
      throw refused("Too many channels are subscribed to; unsubscribe from one");
    }
    return {};
  });
  server.server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    hints.unwatch(nameIn(uri));
    return {};
  });
}

/**
 * The channels that a client of the present revision wants to hear of; none when the message says
 * nothing about it.
 */
export function wantedBy(message: unknown): string[] {
  const method = field(message, "method");
  const uris = field(field(field(message, "params"), "notifications"), "resourceSubscriptions");
  if (method !== "subscriptions/listen" || !Array.isArray(uris)) return [];
  return uris.flatMap((uri) => (typeof uri === "string" ? channelOfUri(uri) : undefined) ?? []);
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function nameIn(uri: string): string {
  const name = channelOfUri(uri);
  if (name === undefined) {
    throw refused(
      "There is no such resource; a channel is static://channel/ and its name, as in static://channel/acme/ops/deploy",
    );
  }
  return name;
}

/** An error's text passes the last look for secrets, as in tools. */
async function answered<T>(answering: ToolAnswers, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(answering.textOf(error));
  }
}
