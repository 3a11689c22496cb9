/**
 * Asks a part on this machine whether it is well, for the health checks of images, which hold no
 * other program that could: `deno run server/health_check/main.ts URL`. Prints what it said if not.
 */
const [url = ""] = Deno.args;
const answer = await fetch(url, { signal: AbortSignal.timeout(4_000) }).catch(String);
if (typeof answer === "string" || !answer.ok) {
  console.log(typeof answer === "string" ? answer : await answer.text());
  Deno.exit(1);
}
