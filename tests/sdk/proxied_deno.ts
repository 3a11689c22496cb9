/** The same in Deno. */
import { platform } from "../../sdk/platform/deno.ts";
import { goThroughProxy } from "./proxied_agent.ts";

console.log(await goThroughProxy(platform, JSON.parse(Deno.args[0] ?? "")));
