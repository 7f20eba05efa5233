// The API, as the page uses it: requests with the token, and a thread as it happens.

const TOKEN = "agent-api-token";
const PAUSE = 1000; // milliseconds before a lost stream is begun again
const PATIENCE = 15_000; // milliseconds in which an answer has to begin
const LONG_PAUSE = 10_000; // where the server says why it cannot give one
const MOST = 1000; // threads that the server lists at once

let skew = 0; // milliseconds that the server's clock is ahead of this machine's

/** Why a request was refused, in the server's words. */
export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Keep the token for this tab, unless no header could carry it. */
export function keepToken(token) {
  if (/^[!-~]+$/.test(token)) sessionStorage.setItem(TOKEN, token);
}

/** The time by the server's clock, by which approvals expire. */
export function now() {
  return Date.now() + skew;
}

/** A key with which a request may be sent twice and has one effect. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The newest threads, as many as there are or as are wanted. query: such as `&status=waiting`. */
export async function list(query, wanted) {
  const found = [];
  let asked, page;
  do {
    asked = Math.min(MOST, wanted - found.length);
    const before = found.length ? `&before=${found.at(-1).id}` : "";
    page = await (await send(`/threads?limit=${asked}${query}${before}`, {})).json();
    found.push(...page);
  } while (page.length === asked && found.length < wanted);
  return found;
}

/** Send something that has one effect, however often it arrives under this key. */
export async function post(path, body, key) {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
  return (await send(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/**
 * Follow a thread until the signal ends it: each event once, and the thread whenever it changes.
 * Not an EventSource, which cannot send a token. A page that nobody sees follows nothing, since a
 * browser has few connections to a server for all of its tabs.
 */
export async function follow(id, listener, signal) {
  let last = -1;
  while (!signal.aborted) {
    await seen();
    const hidden = new AbortController();
    const hide = () => document.hidden && hidden.abort();
    document.addEventListener("visibilitychange", hide);
    let pause = PAUSE;
    try {
      const headers = { "Last-Event-ID": String(last) };
      const either = AbortSignal.any([signal, hidden.signal]);
      const answer = await send(`/threads/${id}/events`, { headers, signal: either });
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
      if (error instanceof Problem) {
        listener.problem(error.message);
        pause = LONG_PAUSE;
      } else if (!hidden.signal.aborted) {
        listener.connected(false);
      }
    } finally {
      document.removeEventListener("visibilitychange", hide);
    }
    if (!hidden.signal.aborted) await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Wait until the page is seen. */
async function seen() {
  while (document.hidden) {
    await new Promise((resolve) => {
      document.addEventListener("visibilitychange", resolve, { once: true });
    });
  }
}

async function send(path, options) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const signal = options.signal ?? AbortSignal.timeout(PATIENCE);
  const all = { ...options, signal, headers: { ...options.headers, ...headers } };
  const answer = await fetch(path, all);
  skew = (Date.parse(answer.headers.get("date")) || Date.now()) - Date.now();
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
