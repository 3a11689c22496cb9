/**
 * The one thing that a woken model is told. Nothing in it depends on a message: text that others
 * chose cannot ride on it, and some harnesses take it for the user's word.
 */
export const sentence =
  "Static: something waits for this agent. Call the tool wait of the server static until it returns no messages.";
