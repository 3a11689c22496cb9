// Overwrites one record of IndexedDB, and one file by an access handle in a worker; tells what was written each time.
const rounds = 100;

const request = indexedDB.open("files", 1);
request.onupgradeneeded = () => request.result.createObjectStore("records");
await new Promise((resolve) => request.onsuccess = resolve);
const database = request.result;

const put = (key, value) =>
  new Promise((resolve, reject) => {
    const transaction = database.transaction(["records"], "readwrite", { durability: "strict" });
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
    transaction.objectStore("records").put(value, key);
    transaction.commit();
  });

const random = (length) => crypto.getRandomValues(new Uint8Array(length));
const base64 = (bytes) => btoa(String.fromCharCode(...bytes));

const records = [];
for (let round = 0; round < rounds; round++) {
  const value = random(64);
  records.push(base64(value));
  await put("record", value);
}
const secret = random(32);
await put("key", await crypto.subtle.importKey("raw", secret, "AES-GCM", false, ["encrypt"]));

const overwrite = `
  const root = await navigator.storage.getDirectory();
  const file = await root.getFileHandle("places", { create: true });
  const handle = await file.createSyncAccessHandle();
  const written = [];
  for (let round = 0; round < ${rounds}; round++) {
    const place = crypto.getRandomValues(new Uint8Array(4096));
    written.push(btoa(String.fromCharCode(...place.subarray(0, 64))));
    handle.write(place, { at: round % 2 * 4096 });
    handle.flush();
  }
  handle.close();
  postMessage(written);
`;
const worker = new Worker(URL.createObjectURL(new Blob([overwrite], { type: "text/javascript" })), {
  type: "module",
});
const places = await new Promise((resolve, reject) => {
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = ({ message }) => reject(new Error(message));
});
await fetch("/results", {
  method: "POST",
  body: JSON.stringify({ records, places, secret: base64(secret) }),
});
