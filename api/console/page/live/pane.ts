/** The parts of Live. A screen that has room for one shows one. */
export type Pane = "talk" | "channels" | "details";
