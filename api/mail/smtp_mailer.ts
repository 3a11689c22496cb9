/**
 * Mail through an SMTP server. The protocol is nodemailer's: STARTTLS, the ways to authenticate and
 * the encoding of headers are where a mailer of one's own goes wrong. It reads every recipient as a
 * list, so what could end an address in it is quoted.
 */
import { createTransport } from "nodemailer";
import type { MailMessage } from "../domain/account_store.ts";
import type { Mailer } from "../domain/mail/mail_queue.ts";
import { isLoopback, type Secret, waits } from "../../server/mod.ts";

/**
 * `smtps://user:password@host:465`, or `smtp://…:587`, which must offer STARTTLS unless it is this
 * machine.
 */
export function createSmtpMailer(address: Secret, from: string): Mailer {
  const url = new URL(address.reveal());
  const secure = url.protocol === "smtps:";
  const isHere = isLoopback(url.hostname);
  const transport = createTransport({
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(url.port || (secure ? 465 : 587)),
    secure,
    requireTLS: !secure && !isHere,
    ignoreTLS: !secure && isHere,
    // Else the library would ask the system for this machine's name, which needs a permission more.
    name: from.slice(from.lastIndexOf("@") + 1),
    ...(url.username === "" ? {} : {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    dnsTimeout: waits.mail.ms,
    connectionTimeout: waits.mail.ms,
    greetingTimeout: waits.mail.ms,
    socketTimeout: waits.mail.ms,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async ({ id, recipient, subject, body }: MailMessage) => {
      const address = quoted(recipient);
      if (address === undefined) return "refused";
      const sent = transport.sendMail({
        from: { name: "Static", address: from },
        to: { name: "", address },
        envelope: { from, to: [address] },
        messageId: `<${id}@${from.slice(from.lastIndexOf("@") + 1)}>`,
        subject,
        text: body,
      });
      try {
        await sent;
        return "taken";
      } catch (error) {
        if (isFinal(error)) return "refused";
        throw new Error(`The mail server did not take the message: ${reasonOf(error)}`);
      }
    },
  };
}

/**
 * RFC 5321: a fault of this recipient or message is permanent. A refused login may work after a
 * repair.
 */
function isFinal(error: unknown): boolean {
  const [code, command]: unknown[] = ["responseCode", "command"].map((name) =>
    fieldOf(error, name)
  );
  return typeof code === "number" && code >= 500 && ["RCPT TO", "DATA"].includes(String(command));
}

/**
 * Returns the reason by numbers and names: the server's own words often quote the recipient, and
 * the log is no place for addresses.
 */
function reasonOf(error: unknown): string {
  const known = ["code", "command", "responseCode"].map((name) => fieldOf(error, name));
  return known.filter((part) => part !== undefined).join(" ") || "no reason is known";
}

function fieldOf(error: unknown, name: string): unknown {
  return error instanceof Error ? Reflect.get(error, name) : undefined;
}

/** RFC 5321: a local part with anything but letters, digits and a few signs stands in quotes. */
function quoted(address: string): string | undefined {
  const at = address.lastIndexOf("@");
  const [local, host] = [address.slice(0, at), address.slice(at + 1)];
  if (/^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~.-]+$/u.test(local)) return address;
  // The library would make spaces of them, and send to somebody else.
  if (/[<>]/.test(address)) return undefined;
  return `"${local.replaceAll(/["\\]/g, "\\$&")}"@${host}`;
}
