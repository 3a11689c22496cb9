/** Long suites for browsers, as `suites_browser.ts` has the others. */
import { runLongSuites } from "./long_suites.ts";

await fetch("/results", { method: "POST", body: JSON.stringify(await runLongSuites()) });
