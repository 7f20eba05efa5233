// Small things that every part of the page uses.

export const at = (id) => document.getElementById(id);

/** A new element. The text is set as text, whatever it holds. */
export function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** A time as people here write it. */
export function time(iso) {
  const made = element("time", new Date(iso).toLocaleString([], SHORT));
  made.dateTime = iso;
  return made;
}

const SHORT = { dateStyle: "short", timeStyle: "short" };
