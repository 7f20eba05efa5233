// The API, as the page uses it: requests with the token, and a thread as it happens.

const TOKEN = "agent-api-token";
const PAUSE = 1000; // milliseconds before a lost stream is begun again

/** Why a request was refused, in the server's words. */
export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export function keepToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

/** A key with which a request may be sent twice and has one effect. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export async function get(path) {
  return (await send(path, {})).json();
}

/** Send something that has one effect, however often it arrives under this key. */
export async function post(path, body, key) {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
  return (await send(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/**
 * Follow a thread until the signal ends it: each event once, and the thread whenever it changes.
 * Not an EventSource, which cannot send a token.
 */
export async function follow(id, listener, signal) {
  let last = -1;
  while (!signal.aborted) {
    try {
      const headers = { "Last-Event-ID": String(last) };
      const answer = await send(`/threads/${id}/events`, { headers, signal });
      listener.connected(true);
      for await (const { name, data, id: seq } of messages(answer.body)) {
        if (name === "thread") {
          listener.thread(data);
        } else if (Number(seq) > last) {
          last = Number(seq);
          listener.event(data);
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem && error.status !== 503) throw error;
    }
    if (signal.aborted) return;
    listener.connected(false);
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

async function send(path, options) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch(path, { ...options, headers: { ...options.headers, ...headers } });
  if (answer.ok) return answer;
  const { error } = await answer.json().catch(() => ({}));
  throw new Problem(answer.status, error || `the server answered ${answer.status}`);
}

/** The server-sent events in a stream of bytes. */
async function* messages(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").map(field));
      if (fields.data) yield { name: fields.event, id: fields.id, data: JSON.parse(fields.data) };
    }
  }
}

function field(line) {
  const at = line.indexOf(": ");
  return [line.slice(0, at), line.slice(at + 2)];
}
