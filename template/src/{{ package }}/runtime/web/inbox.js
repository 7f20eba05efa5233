// The inbox: the threads on the left, one of them on the right. All that is shown is set as text.

import { follow, get, keepToken, newKey, post, Problem } from "./client.js";
import { at, element, time } from "./page.js";
import { drawPending } from "./pending.js";

const POLL = 2000; // milliseconds between two looks at the list
const PAGE = 100; // threads that the list grows by; the server gives at most 1000
const STATUS = { running: "running", waiting: "waits for you", done: "done", failed: "failed" };

let thread = null; // the one on the right, without its events
let following = new AbortController(); // ends its stream
let length = PAGE; // how many threads the list may hold
let listed = ""; // what the list shows
let draft = null; // the key of the message in the box, so that it counts once

// The list

async function refreshList() {
  const [waiting, all] = await Promise.all([
    get("/threads?status=waiting&limit=1000"),
    get(`/threads?limit=${length}`),
  ]);
  const rest = all.filter((each) => each.status !== "waiting");
  at("more").hidden = all.length < length || length >= 1000;
  document.title = waiting.length ? `(${waiting.length}) Inbox` : "Inbox";
  drawList([...waiting, ...rest]);
}

function drawList(threads) {
  const now = JSON.stringify([threads, location.hash]);
  if (now === listed) return;
  listed = now;
  at("none").hidden = threads.length > 0;
  const focused = document.activeElement?.hash;
  const rows = threads.map((each) => {
    const link = element("a", undefined, each.status);
    link.href = `#${each.id}`;
    if (link.hash === location.hash) link.setAttribute("aria-current", "page");
    const facts = element("span", `${STATUS[each.status]} · `, "facts");
    if (each.at) facts.append(time(each.at));
    link.append(element("bdi", each.title || "(no words)"), facts);
    const row = element("li");
    row.append(link);
    return row;
  });
  at("threads").replaceChildren(...rows);
  if (focused) at("threads").querySelector(`a[href="${focused}"]`)?.focus();
}

at("more").addEventListener("click", () => {
  length = Math.min(length + PAGE, 1000);
  attempt(refreshList);
});

// The thread

function open() {
  const id = location.hash.slice(1);
  following.abort();
  following = new AbortController();
  thread = null;
  draft = null;
  document.body.classList.toggle("reading", id !== "");
  at("timeline").replaceChildren();
  say("");
  draw();
  attempt(refreshList);
  if (isThread(id)) attempt(() => follow(id, listener(following.signal), following.signal));
}

function isThread(id) {
  return /^[0-9a-f]{32}$/.test(id);
}

function listener(signal) {
  at("timeline").ariaBusy = "true"; // what was there already is not read aloud as news
  return {
    connected,
    event(event) {
      if (!signal.aborted) drawEvent(event);
    },
    thread(now) {
      if (signal.aborted) return;
      const isFirst = thread === null;
      thread = now;
      at("timeline").ariaBusy = "false";
      draw();
      if (isFirst) at("message").scrollIntoView({ block: "end" });
    },
  };
}

function draw() {
  const asks = thread?.pending?.kind === "question";
  at("title").textContent = thread ? thread.title : "New conversation";
  at("status").textContent = thread ? STATUS[thread.status] : "";
  at("status").className = thread?.status ?? "";
  at("prompt").textContent = asks ? "Your answer" : "Message";
  at("send").textContent = asks ? "Answer" : "Send";
  drawPending(at("pending"), thread, act);
}

function drawEvent({ whose, text, at: when, meta }) {
  const row = element("li", undefined, whose);
  const facts = element("span", `${whose} · `, "facts");
  facts.append(time(when));
  if (meta.client) facts.append(` · ${meta.client}, ${meta.milliseconds} ms`);
  row.append(facts, element("div", text, "text"));
  at("timeline").append(row);
}

at("message").addEventListener("submit", async (submitted) => {
  submitted.preventDefault();
  const message = at("text").value;
  const id = location.hash.slice(1);
  if (!message.trim() || at("send").disabled) return;
  draft ??= newKey();
  at("send").disabled = true;
  const path = isThread(id) ? `/threads/${id}/messages` : "/threads";
  const sent = await attempt(() => post(path, { message }, draft));
  at("send").disabled = false;
  if (!sent) return; // the box keeps the message, and its key
  draft = null;
  at("text").value = "";
  say("");
  if (location.hash.slice(1) === id) location.hash = sent.id;
});

at("text").addEventListener("input", () => (draft = null));
at("text").addEventListener("keydown", (pressed) => {
  if (pressed.key !== "Enter" || pressed.shiftKey || pressed.isComposing) return;
  pressed.preventDefault();
  at("message").requestSubmit();
});

async function act(path, body, said) {
  const done = await attempt(() => post(path, body, newKey()), "Not recorded: ");
  if (done) say(said);
}

function say(text, className = "") {
  at("notice").textContent = text;
  at("notice").className = className;
}

// The server

/** Do something that needs the server. Undefined where that fails; the person is told why. */
async function attempt(work, before = "") {
  try {
    const result = await work();
    connected(true);
    return result;
  } catch (error) {
    if (error instanceof Problem && error.status === 401) askForToken();
    else if (error instanceof Problem) say(before + error.message, "warning");
    else connected(false);
    return undefined;
  }
}

function connected(is) {
  at("connection").textContent = is ? "" : "The server does not answer; trying again …";
}

function askForToken() {
  if (at("ask-token").open) return;
  at("token-problem").textContent = at("token").value ? "That was not the token." : "";
  at("token").value = "";
  at("ask-token").showModal();
}

at("ask-token").addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  keepToken(at("token").value.trim());
  at("ask-token").close();
  open();
});

addEventListener("hashchange", open);
setInterval(() => document.hidden || at("ask-token").open || attempt(refreshList), POLL);
open();
