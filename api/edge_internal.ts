/**
 * The paths for relays where a platform listens: a deployment of its own, on an address that only
 * relays reach.
 */
import { createEdge } from "./edge.ts";

export default createEdge((app) => app.fetchInternal);
