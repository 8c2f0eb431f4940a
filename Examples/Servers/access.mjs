// Says who may join which conversation, and checks who asks, as Standard Webhooks says. ACCESS_SECRET=whsec_… node access.mjs 9000
// With access.url: http://127.0.0.1:9000/ in the workers' configuration. In front of other machines, put TLS before it.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const key = Buffer.from(process.env.ACCESS_SECRET.replace("whsec_", ""), "base64");
const chats = new Map([["c42", ["alice", "bob"]]]); // your database

function isSigned(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signatures = "" } = headers;
  if (!(Math.abs(Date.now() / 1000 - time) < 300)) return false;
  const mac = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest();
  return signatures.split(" ").some((signature) => {
    const given = Buffer.from(signature.replace("v1,", ""), "base64");
    return given.length === mac.length && timingSafeEqual(given, mac);
  });
}

function answer({ user, conversation }) {
  const people = chats.get(conversation) ?? [];
  return { user, conversation, allow: people.includes(user), people: people.slice(0, 100) };
}

createServer(async (request, response) => {
  let body = "";
  for await (const part of request.setEncoding("utf8")) body += part;
  if (!isSigned(request.headers, body)) return response.writeHead(401).end();
  response.end(JSON.stringify({ answers: JSON.parse(body).questions.map(answer) }));
}).listen(Number(process.argv[2]), "127.0.0.1");
