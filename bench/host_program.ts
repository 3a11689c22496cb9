/**
 * One of the two programs of `bench/host.ts`: sends a message for each that it receives. It is told
 * how many on standard input, and says when they are through.
 */
import { ChannelManager, type ConnectOptions } from "../sdk/mod.ts";

export interface Player {
  readonly options: ConnectOptions;
  readonly channel: string;
  /** Sends first. */
  readonly serves: boolean;
}

async function play({ options, channel: name, serves }: Player): Promise<void> {
  await using manager = await ChannelManager.connect(options);
  const channel = await manager.channel(name);
  const payload = new Uint8Array(1024);
  console.log("ready");
  for await (const chunk of Deno.stdin.readable) {
    const count = Number(new TextDecoder().decode(chunk));
    for (let i = 0; i < count; i++) {
      if (serves) await channel.send(payload);
      await channel.receive();
      if (!serves) await channel.send(payload);
    }
    console.log("done");
  }
}

if (import.meta.main) await play(JSON.parse(Deno.args[0] ?? ""));
