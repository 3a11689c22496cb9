// A client on node:http2 that asks once on each of its connections and waits until the server closes it. Arguments: address,
// certificate file, number of connections. Prints a line for each.
import { readFileSync } from "node:fs";
import { connect } from "node:http2";
import process from "node:process";

const [address, certFile, count] = process.argv.slice(2);
const ca = readFileSync(certFile, "utf8");
for (let i = 0; i < Number(count); i++) {
  const session = connect(address, { ca });
  const closed = new Promise((resolve) => session.on("close", resolve));
  session.on("error", () => {});
  await new Promise((resolve, reject) => {
    const request = session.request({ ":path": "/health" });
    request.on("end", resolve).on("error", reject).resume();
    request.end();
  });
  await closed;
  console.log(i);
}
