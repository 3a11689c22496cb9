/** From the fields of `connect` to an agent that one program holds alone. */
import { Fields } from "../host/fields.ts";
import { platform } from "#platform";
import { type ConnectOptions, StaticClient } from "../client.ts";
import { connectAgent } from "../connect_agent.ts";
import { ChannelManager } from "../manager.ts";
import type { Platform } from "../platform/platform.ts";
import type { Held } from "./held.ts";
import { readAlone, readOneByOne } from "./reading_alone.ts";
import { ServedChannels } from "./serving.ts";

export function connectOptionsOf(fields: Fields, identity: Uint8Array, ask: () => Promise<string>): ConnectOptions {
  const text = (name: string): Record<string, string> => {
    const value = fields.optionalText(name);
    return value === undefined ? {} : { [name]: value };
  };
  const tls = fields.optionalObject("tls");
  const trustFile = fields.optionalText("trustFile");
  const damaged = fields.one("damaged", ["refuse", "read", "accept"]);
  const given = {
    ...text("link"),
    ...text("endpoint"),
    ...text("apiUrl"),
    ...text("apiKey"),
    ...text("token"),
    ...text("passphrase"),
    ...text("transport"),
    ...(fields.flag("tokenAsk") && { token: ask }),
    ...(fields.has("cover") && { cover: fields.raw("cover") }),
    ...(tls !== undefined && { tls: tlsOf(tls) }),
    ...(damaged !== undefined && { damaged }),
    ...(trustFile !== undefined && { trust: trustFile }),
    repair: fields.flag("repair"),
    dataDir: fields.text("dataDir"),
    identity,
  };
  return given as ConnectOptions; // cast: `transport` and `cover` are checked by the session that takes them
}

/** With the settings that a program has sent to its host beside a link: the host itself reads no files of its user. */
export function platformFor(fields: Fields): Platform {
  const saved = fields.optionalObject("saved");
  if (saved === undefined) return platform;
  const [apiUrl, apiKey] = [saved.optionalText("apiUrl"), saved.optionalText("apiKey")];
  const settings = { ...(apiUrl !== undefined && { apiUrl }), ...(apiKey !== undefined && { apiKey }) };
  return { ...platform, readSettings: () => Promise.resolve(settings) };
}

function tlsOf(tls: Fields): NonNullable<ConnectOptions["tls"]> {
  const [caFile, caCerts] = [tls.optionalText("caFile"), tls.optionalTexts("caCerts")];
  const [relayCaCerts, certificateHashes] = [tls.optionalTexts("relayCaCerts"), tls.optionalTexts("certificateHashes")];
  return {
    ...(caFile !== undefined && { caFile }),
    ...(caCerts !== undefined && { caCerts }),
    ...(relayCaCerts !== undefined && { relayCaCerts }),
    ...(certificateHashes !== undefined && { certificateHashes }),
  };
}

/** Throws `StaticError`. */
export async function connectAlone(options: ConnectOptions, withManager: boolean): Promise<Held> {
  const agent = await connectAgent(options, platform);
  const manager = withManager ? await ChannelManager.over(agent) : undefined;
  return holdAlone(manager?.client ?? StaticClient.over(agent), manager);
}

/** Messages are read by the channel's own loops. */
export function holdAlone(client: StaticClient, manager: ChannelManager | undefined): Held {
  return {
    client,
    isShared: false,
    manager,
    served: new ServedChannels(),
    read: (channel, options) =>
      Promise.resolve(options.oneByOne === true ? readOneByOne(channel) : readAlone(channel, options)),
    close: () => (manager ?? client).close(),
  };
}
