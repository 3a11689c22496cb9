/**
 * An agent in Python, as a program of its own: it joins by a link, says that it is there, and
 * answers requests until it is ended.
 */
import { buildWheel } from "../../tools/build_python.ts";
import { runCommand } from "../support/mod.ts";
import { findPython } from "../support/python.ts";
import type { Stack } from "../support/stack.ts";

export interface PythonAgent extends AsyncDisposable {
  readonly agentId: string;
}

/** The link comes by standard input: arguments can be seen by everybody on the machine. */
const program = `
import sys
from static_sdk import ChannelManager

with ChannelManager(None, sys.argv[1], b"python") as agent:
    channel = agent.join(sys.stdin.readline().strip())
    with channel.serve(lambda request: f"{len(request.text())} letters, says Python".encode()):
        channel.send(b"from Python")
        print(agent.agent_id, flush=True)
        sys.stdin.read()
`;

/** `folder` gets the package and the agent's directory. */
export async function startPythonAgent(
  { quicUrl, grpcUrl, api, account, caFile }: Stack,
  { folder, link }: { readonly folder: string; readonly link: string },
): Promise<PythonAgent> {
  const command = await findPython() ?? "python3";
  const wheel = await buildWheel(`${folder}/wheel`);
  await runCommand(command, ["-m", "zipfile", "-e", wheel, `${folder}/package`]);
  const child = new Deno.Command(command, {
    args: ["-c", program, `${folder}/python-agent`],
    env: {
      PYTHONPATH: `${folder}/package`,
      STATIC_RUNTIME: Deno.execPath(),
      STATIC_RELAY_URL: `${quicUrl},${grpcUrl}`,
      STATIC_API_URL: api.url,
      STATIC_API_KEY: account.apiKey,
      STATIC_CA_FILE: caFile,
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const problems = new Response(child.stderr).text();
  const [input, output] = [
    child.stdin.getWriter(),
    child.stdout.pipeThrough(new TextDecoderStream()).getReader(),
  ];
  await input.write(new TextEncoder().encode(`${link}\n`));
  let printed = "";
  while (!printed.includes("\n")) {
    const { value, done } = await output.read();
    if (done) throw new Error(`The agent in Python ended: ${await problems}`);
    printed += value;
  }
  return {
    agentId: printed.trim(),
    [Symbol.asyncDispose]: async () => {
      await input.close();
      await output.cancel();
      await Promise.all([child.status, problems]);
    },
  };
}
