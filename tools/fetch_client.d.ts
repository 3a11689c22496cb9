/** Deno's addition to the standard `fetch`, which the browser's types do not know. */
interface RequestInit {
  client?: Deno.HttpClient;
}
