/**
 * Mail of a development machine: each message is a file that only the service's user can read. The
 * newest thousand are kept.
 */
import type { MailMessage } from "../domain/account_store.ts";
import type { Mailer } from "../domain/mail/mail_queue.ts";
import { makePrivateFolder } from "../../server/mod.ts";

const maxFiles = 1000;
/** The folder is listed once for so many messages, because a list costs more than a message. */
const tidyEvery = 100;

export function mailFolder(dataDir: string): string {
  return `${dataDir}/mail`;
}

export function createFileMailer(folder: string, nowMs: () => number): Mailer {
  let count = 0;
  return {
    send: async ({ id, recipient, subject, body }: MailMessage) => {
      const time = new Date(nowMs()).toISOString().replaceAll(":", "-");
      const text = `To: ${recipient}\nSubject: ${subject}\n\n${body}`;
      // In the order in which they are sent, also within one millisecond.
      const index = count++;
      const order = String(index % 1_000_000).padStart(6, "0");
      await makePrivateFolder(folder);
      await Deno.writeTextFile(`${folder}/${time}_${order}_${id}.txt`, text, { mode: 0o600 });
      if (index % tidyEvery === 0) await removeOldest(folder);
      return "taken";
    },
  };
}

async function removeOldest(folder: string): Promise<void> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(folder)) names.push(name);
  for (const name of names.sort().slice(0, Math.max(0, names.length - maxFiles))) {
    await Deno.remove(`${folder}/${name}`).catch((error) => {
      // Another message of the same moment was quicker.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
}
