/**
 * Asks a part on this machine whether it is well, for the health checks of images, which hold no
 * other program that could: `deno run server/health_check/main.ts URL`. Prints what it said if not.
 */
import { waits } from "../waits.ts";

const [url = ""] = Deno.args;
const answer = await fetch(url, { signal: AbortSignal.timeout(waits.healthCheck.ms) }).catch(
  String,
);
if (typeof answer === "string" || !answer.ok) {
  console.log(typeof answer === "string" ? answer : await answer.text());
  Deno.exit(1);
}
