// What waits for a person: a call that they may approve, or one that may have happened, or a run that
// failed. A decision is about the very call that is shown, by its hash.

import { now } from "./client.js";
import { at, element, time } from "./page.js";

const SETTLING = 1000; // milliseconds in which a new card takes no click that was meant for another

/**
 * Show what waits in a thread, if that has changed. Returns what was typed into a card that is gone.
 * act: sends a body to a path, and says what was recorded.
 */
export function drawPending(section, thread, act) {
  const key = JSON.stringify([thread?.id, thread?.pending, thread?.failure, isOver(thread)]);
  if (section.dataset.key === key) return "";
  section.dataset.key = key;
  const typed = section.querySelector("input")?.value;
  const hadFocus = section.contains(document.activeElement);
  section.replaceChildren(...card(thread, act));
  if (hadFocus) at("main").focus();
  return typed;
}

function isOver(thread) {
  return new Date(thread?.pending?.expires ?? Infinity) < now();
}

function card(thread, act) {
  if (thread?.failure) return failure(thread, act);
  if (thread?.pending?.kind === "approval") return approval(thread, act);
  if (thread?.pending?.kind === "outcome") return outcome(thread.pending, act);
  return [];
}

function approval(thread, act) {
  const { approval_id: id, call_hash, text, earlier, expires } = thread.pending;
  const shown = [element("h3", "May this run?"), element("pre", text)];
  if (earlier) shown.push(element("p", `Note: ${earlier}`, "warning"));
  if (isOver(thread)) {
    shown.push(element("p", "The time to decide is over."));
    return [...shown, buttons({ "Ask anew": () => resume(thread, act, "Asked anew.") })];
  }
  const until = element("p", "It runs once, exactly as it stands here. Decide until ", "hint");
  until.append(time(expires), ".");
  const [label, comment] = field("Comment, which the agent reads");
  const decide = (approved) => {
    const said = approved ? "Approved." : "Refused.";
    return act(`/approvals/${id}`, { approved, call_hash, comment: comment.value }, said);
  };
  const choices = buttons({ Approve: () => decide(true), Refuse: () => decide(false) });
  return [...shown, until, label, comment, choices];
}

function outcome({ effect_key: key, text, problem }, act) {
  const asked = [element("h3", "Did this happen?"), element("pre", text)];
  asked.push(element("p", `Nobody knows: ${problem}`, "warning"));
  const [label, result] = field("What it gave, or why it did not happen");
  const settle = (happened) => {
    return act(`/effects/${encodeURIComponent(key)}`, { happened, result: result.value }, "Recorded.");
  };
  const choices = { "It happened": () => settle(true), "It did not happen": () => settle(false) };
  return [...asked, label, result, buttons(choices)];
}

function failure(thread, act) {
  const { type, message } = thread.failure;
  const told = element("p", `The run ended (${type}): ${message}`, "warning");
  return [told, buttons({ "Try again": () => resume(thread, act, "It goes on.") })];
}

function resume(thread, act, said) {
  return act(`/threads/${thread.id}/resume`, {}, said);
}

function field(text) {
  const label = element("label", text);
  const input = element("input");
  input.maxLength = 2000;
  input.id = label.htmlFor = "comment";
  return [label, input];
}

/** Buttons by what stands on them; none can be pressed twice at once, nor as soon as it appears. */
function buttons(choices) {
  const row = element("p", undefined, "buttons");
  const enable = (is) => row.childNodes.forEach((button) => (button.disabled = !is));
  for (const [text, action] of Object.entries(choices)) {
    const button = element("button", text);
    button.type = "button";
    button.addEventListener("click", async () => {
      if (button.disabled) return; // as for a click that a script made
      enable(false);
      const isDone = await action();
      if (isDone) row.parentElement?.querySelectorAll("input").forEach((box) => (box.value = ""));
      enable(true);
      (row.isConnected ? button : at("main")).focus(); // a button that cannot be pressed loses it
    });
    row.append(button);
  }
  enable(false);
  setTimeout(() => enable(true), SETTLING);
  return row;
}
