// The inbox: the threads on the left, one of them on the right. All that is shown is set as text.

import { follow, keepToken, list, newKey, post, Problem } from "./client.js";
import { at, element, time } from "./page.js";
import { drawPending } from "./pending.js";

const POLL = 2000; // milliseconds between two looks at the list
const PAGE = 100; // threads that the list grows by
const UNKNOWN = "No answer came; nobody knows whether that was recorded. Try again: it counts once.";
const SETTLED = "What you were about to say was settled elsewhere; see above.";
const STATUS = { running: "running", waiting: "waits for you", done: "done", failed: "failed" };

let thread = null; // the one on the right, without its events
let following = new AbortController(); // ends its stream
let length = PAGE; // how many threads the list may hold
let listed = ""; // what the list shows
let opened = "new"; // its id, or "new" where a conversation is to be begun
let isActing = false; // a decision is being sent
const drafts = new Map(); // what is typed and not sent, by the id of its thread
const meant = new Map(); // which question it answers: the one that stood there when it was begun
const sending = new Set(); // the threads to which a message is on its way
const keys = new Map(); // of what was sent and not answered: sent again, it counts once

// The list

async function refreshList() {
  const [waiting, all] = await Promise.all([
    list("&status=waiting", Infinity),
    list("", length),
  ]);
  const rest = all.filter((each) => each.status !== "waiting");
  at("more").hidden = all.length < length;
  document.title = waiting.length ? `(${waiting.length}) Inbox` : "Inbox";
  drawList([...waiting, ...rest]);
  draw(); // the time to decide may be over by now
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
  length += PAGE;
  attempt(refreshList);
});

// The thread

function open() {
  opened = location.hash.slice(1) || "new";
  following.abort();
  following = new AbortController();
  thread = null;
  document.body.classList.toggle("reading", location.hash.length > 1);
  at("text").value = drafts.get(opened) ?? "";
  at("timeline").replaceChildren();
  const isNone = opened !== "new" && !isThread(opened);
  say(isNone ? "There is no such thread; this begins a new one." : "", "warning");
  draw();
  attempt(refreshList);
  const { signal } = following;
  if (isThread(opened)) attempt(() => follow(opened, listener(signal), signal));
}

function question() {
  return thread?.pending?.kind === "question" ? thread.pending.seq : undefined;
}

function isThread(id) {
  return /^[0-9a-f]{32}$/.test(id);
}

function listener(signal) {
  at("timeline").ariaBusy = "true"; // what was there already is not read aloud as news
  return {
    connected,
    problem(text) {
      if (!signal.aborted) say(text, "warning");
    },
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
  const asks = question() !== undefined;
  const nothing = isThread(opened) ? "…" : "New conversation";
  at("title").textContent = thread ? thread.title : nothing;
  at("status").textContent = thread ? STATUS[thread.status] : "";
  at("status").className = thread?.status ?? "";
  at("prompt").textContent = asks ? "Your answer" : "Message";
  at("send").textContent = asks ? "Answer" : "Send";
  at("send").disabled = sending.has(opened);
  const unsent = drawPending(at("pending"), thread, act);
  if (unsent && !isActing && thread) say(SETTLED, "warning");
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
  const id = opened;
  if (!message.trim() || sending.has(id)) return;
  const answers = meant.get(id);
  const path = isThread(id) ? `/threads/${id}/messages` : "/threads";
  sending.add(id);
  draw();
  const sent = await send(path, answers === undefined ? { message } : { message, answers });
  sending.delete(id);
  draw();
  if (!sent) {
    if (opened === id) meant.set(id, question()); // the person sees what is asked now
    return; // the box keeps the message
  }
  if (drafts.get(id) === message) drafts.delete(id);
  if (opened !== id) return;
  at("text").value = drafts.get(id) ?? "";
  say("");
  location.hash = sent.id;
});

at("text").addEventListener("input", () => {
  if (!drafts.get(opened)) meant.set(opened, question());
  drafts.set(opened, at("text").value);
});
at("text").addEventListener("keydown", (pressed) => {
  if (pressed.key !== "Enter" || pressed.shiftKey || pressed.isComposing) return;
  pressed.preventDefault();
  at("message").requestSubmit();
});

async function act(path, body, said) {
  const { signal } = following;
  isActing = true;
  const done = await send(path, body);
  isActing = false;
  if (done && !signal.aborted) say(said);
  return done;
}

/** Send something once, however often it is tried. Undefined where that fails. */
async function send(path, body) {
  const same = JSON.stringify([path, body, thread?.at]); // later it means something else
  if (!keys.has(same)) keys.set(same, newKey());
  return attempt(async () => {
    try {
      const answer = await post(path, body, keys.get(same));
      keys.delete(same);
      return answer;
    } catch (error) {
      if (error instanceof Problem && error.status < 500) keys.delete(same); // refused for good
      throw error;
    }
  }, UNKNOWN);
}

function say(text, className = "") {
  at("notice").textContent = text;
  at("notice").className = className;
}

// The server

/**
 * Do something that needs the server. Undefined where that fails; the person is told why, if they
 * still look at the same thread. lost: what they are told where no answer came.
 */
async function attempt(work, lost = "") {
  const { signal } = following;
  try {
    const result = await work();
    connected(true);
    return result;
  } catch (error) {
    const isRefused = error instanceof Problem;
    if (!isRefused) connected(false);
    if (error.status === 401) {
      askForToken();
    } else if (!signal.aborted) {
      const refusal = lost ? `Not recorded: ${error.message}` : error.message;
      if (isRefused || lost) say(isRefused ? refusal : lost, "warning");
    }
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

at("skip").addEventListener("click", (clicked) => {
  clicked.preventDefault(); // what stands after # is a thread
  at("main").focus();
});

addEventListener("hashchange", open);
setInterval(() => document.hidden || at("ask-token").open || attempt(refreshList), POLL);
open();
