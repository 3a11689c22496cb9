/** A relay that is set back to a backup, beside members that go on. */
import { copyKey, openSqliteEngine } from "../../../relay/engine/mod.ts";
import { type Actor, allAgree, read, Stage } from "./stage.ts";

export interface Moment {
  backUp(): Promise<void>;
  /** `isTold`: whether the relay knows that it was set back, as from a copy that it made itself. */
  restore(how?: { readonly isTold: boolean }): Promise<void>;
}

/** A stage whose relay can be set back once, to the moment of `backUp`. */
export async function withBackup(
  play: (stage: Stage, moment: Moment) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-set-back-" });
  const engine = await openSqliteEngine({ path: `${folder}/relay.sqlite` });
  await using opened = new AsyncDisposableStack();
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  opened.defer(() => engine.close());
  {
    await using stage = await Stage.open({ engine });
    await play(stage, {
      backUp: () => engine.backUp(`${folder}/copy.sqlite`, 1),
      restore: async ({ isTold } = { isTold: true }) => {
        const copy = await openSqliteEngine({ path: `${folder}/copy.sqlite` });
        if (!isTold) await copy.records.delete(copyKey);
        opened.defer(() => copy.close());
        await stage.restartRelay(copy);
      },
    });
  }
}

/** All are in step, and hear each other. */
export async function talk(...actors: readonly Actor[]): Promise<void> {
  await allAgree(...actors);
  for (const sender of actors) {
    const text = `${sender.label} is here: ${crypto.randomUUID()}`;
    await (await sender.channel()).send(text);
    for (const reader of actors.filter((actor) => actor !== sender)) {
      // One that was away may have messages from before.
      while ((await read(await reader.channel(), 1))[0] !== text);
    }
  }
}
