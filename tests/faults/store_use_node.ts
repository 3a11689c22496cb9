/** The entry point of the bundle that Node runs. */
import { main } from "./store_use.ts";

await main();
