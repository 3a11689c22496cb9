/**
 * A mail server of RFC 5321 on loopback, as far as a sender needs it, that keeps what it is given.
 */

export interface SmtpServer extends AsyncDisposable {
  readonly port: number;
  readonly messages: { readonly recipients: readonly string[]; readonly text: string }[];
}

/**
 * Port 0 lets the system choose. `refuse` makes it answer every recipient with that code: 4xx for
 * now, 5xx for good.
 */
export function startSmtpServer(port: number, state: { refuse?: number } = {}): SmtpServer {
  const listener = Deno.listen({ hostname: "127.0.0.1", port });
  const messages: SmtpServer["messages"] = [];
  const open = new Set<Promise<void>>();
  const connections = new Set<Deno.TcpConn>();
  const accepting = (async () => {
    for await (const connection of listener) {
      connections.add(connection);
      const served: Promise<void> = serve(connection, messages, state).catch(() => {}).finally(
        () => {
          open.delete(served);
          connections.delete(connection);
        },
      );
      open.add(served);
    }
  })();
  return {
    port: listener.addr.port,
    messages,
    [Symbol.asyncDispose]: async () => {
      listener.close();
      for (const connection of connections) connection.close();
      await accepting.catch(() => {});
      await Promise.all(open);
    },
  };
}

async function serve(
  connection: Deno.TcpConn,
  messages: SmtpServer["messages"],
  state: { readonly refuse?: number },
): Promise<void> {
  const say = (line: string): Promise<number> =>
    connection.write(new TextEncoder().encode(`${line}\r\n`));
  let [rest, text, isData]: [string, string, boolean] = ["", "", false];
  let recipients: string[] = [];
  await say("220 test ESMTP");
  for await (const chunk of connection.readable.pipeThrough(new TextDecoderStream())) {
    rest += chunk;
    for (let end = rest.indexOf("\r\n"); end >= 0; end = rest.indexOf("\r\n")) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 2);
      if (isData) {
        if (line !== ".") {
          text += `${line}\n`;
          continue;
        }
        messages.push({ recipients, text });
        [recipients, text, isData] = [[], "", false];
        await say("250 taken");
      } else if (/^RCPT TO:/i.test(line)) {
        const recipient = /<(.*)>/.exec(line)?.[1] ?? "";
        if (state.refuse === undefined) recipients.push(recipient);
        // As real ones do.
        await say(
          state.refuse === undefined ? "250 ok" : `${state.refuse} <${recipient}> is not taken`,
        );
      } else if (/^DATA/i.test(line)) {
        isData = true;
        await say("354 go on");
      } else if (/^QUIT/i.test(line)) {
        await say("221 bye");
        return;
      } else {
        await say("250 test");
      }
    }
  }
}
