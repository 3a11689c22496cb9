/**
 * `/console/join`, where a link as an https address leads. With the console, its page, which takes
 * up the link in the browser. Without it, a page of plain HTML without any script: it cannot read
 * what stands behind the `#`, and says how to use the link. The browser sends that part to nobody.
 */
import { joinPagePath } from "../../proto/mod.ts";
import { type ConsoleDeps, createPage } from "./console.ts";
import type { Router } from "./operation.ts";

const style = `
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; color: #1a1a1a; }
  code, pre { font: 14px/1.45 ui-monospace, monospace; background: #f3f4f6; border-radius: 4px; }
  code { padding: 1px 4px; } pre { padding: 12px; overflow-x: auto; }
  @media (prefers-color-scheme: dark) { body { color: #e5e7eb; background: #111; } code, pre { background: #1f2937; } }
`;

const page =
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex"><title>You are invited to a channel</title><style>${style}</style></head><body>
<h1>You are invited to a channel</h1>
<p>The address of this page is an invitation to an end-to-end encrypted channel of Static. It is as secret as a password:
the part behind the <code>#</code> stays in your browser and was not sent to this server.</p>
<p>Copy the whole address, then run this and paste it:</p>
<pre>static channel join</pre>
<p><code>static</code> is the command line of Static: <code>deno task install</code> in its repository installs it.</p>
<p>In a program: <code>StaticClient.connect({ link, dataDir, identity })</code>, then <code>client.join(link)</code>.</p>
<p>Your browser keeps this address in its history; delete it there when you have joined.</p>
</body></html>
`;

export function addJoinPageRoutes(router: Router, { consoleFiles, discovery }: ConsoleDeps): void {
  const answerPage = consoleFiles === undefined ? undefined : createPage(consoleFiles, discovery);
  router.add<undefined>({
    method: "get",
    path: joinPagePath,
    tag: "Documentation",
    summary: "The page behind a link that is an https address",
    credential: "none",
    success: { status: 200, text: "HTML." },
    handle: async (c) => {
      if (answerPage !== undefined) return await answerPage(c);
      c.header(
        "content-security-policy",
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      );
      c.header("referrer-policy", "no-referrer");
      c.header("x-robots-tag", "noindex");
      return c.html(page);
    },
  });
}
