/** The queue of mail with the mailer that is configured: a server, or a folder. */
import { describeFailure, type Log } from "../../server/mod.ts";
import type { Config } from "../config.ts";
import type { Clock } from "../domain/deps.ts";
import { createMailQueue, type MailQueue } from "../domain/mail/mail_queue.ts";
import type { Store } from "../domain/store.ts";
import { createFileMailer, mailFolder } from "./file_mailer.ts";
import { createSmtpMailer } from "./smtp_mailer.ts";

export function createMail(
  { mail, dataDir }: Config,
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
): MailQueue {
  const mailer = mail.server === undefined
    ? createFileMailer(mailFolder(dataDir), clock)
    : createSmtpMailer(mail.server, mail.from);
  const onFailure = (attempts: number, error?: unknown): void =>
    error === undefined
      ? log("warn", "mail_given_up", { attempts })
      : log("warn", "mail_not_sent", { attempts, error: describeFailure(error) });
  return createMailQueue({ store, mailer, clock, onFailure });
}
